// Checks the words of the pages: the four catalogues have the same keys with the same
// {values}, every key is used, every key that the code names exists, and none is composed.
//
//   node scripts/web/words.mjs

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const LANGUAGES = ['en', 'de', 'fr', 'es'];
const LONGEST_LINE = 160;
const complaints = [];

/** Every file below a folder with one of these endings, as path and text. */
function files(folder, ...endings) {
  const entries = readdirSync(join(root, folder), { withFileTypes: true, recursive: true });
  return entries
    .filter((it) => it.isFile() && endings.some((ending) => it.name.endsWith(ending)))
    .map((it) => join(it.parentPath ?? it.path, it.name))
    .filter((path) => !/\/(old|target|node_modules|build)\//.test(path))
    .map((path) => ({ path: relative(root, path), text: readFileSync(path, 'utf8') }));
}

// The catalogues, read line by line as the build reads them.

function catalogue(language) {
  const words = new Map();
  const path = `web/words/${language}.js`;
  const lines = readFileSync(join(root, path), 'utf8').split('\n');
  for (const [i, line] of lines.entries()) {
    if (!line.startsWith("  '")) {
      if (!/^(\s*|\s*\/\/.*|export default \{|\};)$/.test(line)) complaints.push(`${path}:${i + 1}: not a word: ${line}`);
      continue;
    }
    const [, key, word] = line.match(/^ {2}'([a-z0-9_.]+)': '((?:[^'\\]|\\.)*)',$/) ?? [];
    if (!key) complaints.push(`${path}:${i + 1}: not one key and one word in single quotes`);
    else if (words.has(key)) complaints.push(`${path}:${i + 1}: ${key} is there twice`);
    words.set(key, word);
  }
  return words;
}

const valuesOf = (word) => [...new Set(word.match(/\{\w+\}/g) ?? [])].sort().join(' ');
const [[, english], ...others] = LANGUAGES.map((it) => [it, catalogue(it)]);
for (const [language, words] of others) {
  for (const key of english.keys()) if (!words.has(key)) complaints.push(`${language} has no ${key}`);
  for (const [key, word] of words) {
    if (!english.has(key)) complaints.push(`${key} is in ${language} alone`);
    else if (valuesOf(word) !== valuesOf(english.get(key))) complaints.push(`${key} has other values in ${language}`);
  }
}
for (const key of english.keys()) {
  if (key.endsWith('.one') && !english.has(key.replace(/one$/, 'other'))) complaints.push(`${key} has no .other`);
}

// Where they are used.

const modules = files('web', '.js').filter(({ path }) => !path.startsWith('web/words/'));
const rust = ['crates', 'edge-worker/src'].flatMap((folder) => files(folder, '.rs'));
const everything = [...modules, ...files('web', '.html'), ...rust].map(({ text }) => text).join('\n');
const isNamed = (key) => everything.includes(`'${key}'`) || everything.includes(`"${key}"`) || everything.includes(`{{${key}}}`);
for (const key of english.keys()) {
  const counted = key.replace(/\.(one|other)$/, '');
  if (!isNamed(key) && (counted === key || !isNamed(counted))) complaints.push(`${key} is used nowhere`);
}

for (const { path, text } of modules) {
  for (const [i, line] of text.split('\n').entries()) {
    const at = `${path}:${i + 1}`;
    if (line.length > LONGEST_LINE) complaints.push(`${at}: ${line.length} characters in a line`);
    for (const [, name, quote, key, after] of line.matchAll(/\b(t|counted)\(\s*(['"`])([^'"`]*)['"`]\s*(\+?)/g)) {
      const exists = name === 't' ? english.has(key) : english.has(`${key}.other`);
      if (quote === '`' || after) complaints.push(`${at}: a key is a whole string, not a composed one`);
      else if (!exists) complaints.push(`${at}: there is no word ${key}`);
    }
  }
}

if (complaints.length > 0) {
  for (const it of complaints) console.error(it);
  process.exit(1);
}
console.log(`words: ${english.size} keys in ${LANGUAGES.length} languages, all used`);

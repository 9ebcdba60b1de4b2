// The words of a page in the reader's language.
//
// `web/words/en.js` and its siblings have every word of every page. A page is sent only the
// words that its modules name, in a module of its own that calls `learn` before the page runs.
// So a key stands in the code as a whole string, and is never put together from parts.

/** @typedef {keyof typeof import('./words/en.js').default} Key */
/**
 * @template K
 * @typedef {K extends `${infer Base}.other` ? Base : never} Base
 */
/** @typedef {Base<Key>} CountedKey */
/** @typedef {Record<string, string | number>} Values */

export const { lang } = document.documentElement;
/** The reader's own variant of the page's language: `de-AT` where the page is German. */
export const locale = navigator.languages?.find((it) => it.startsWith(lang)) ?? lang;

/** @type {Record<string, string>} */
const known = {};
const rules = new Intl.PluralRules(locale);

/** @param {Record<string, string>} words */
export const learn = (words) => Object.assign(known, words);

/**
 * Learns the words of a module that is loaded later, by the module's name.
 * @param {string} name
 */
export const learnFor = (name) => import(new URL(`words/${name}.${lang}.js`, import.meta.url).href);

/** @param {string} text @param {Values} [values] */
const filled = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => String(values?.[name] ?? whole));

/**
 * The word for this key, with `{name}` replaced by the value of that name.
 * @param {Key} key
 * @param {Values} [values]
 */
export const t = (key, values) => filled(known[key] ?? key, values);

/**
 * The word for this many: `key.one`, `key.other`, as the language counts. `{n}` is the number.
 * @param {CountedKey} key
 * @param {number} count
 * @param {Values} [values]
 */
export function counted(key, count, values) {
  const word = known[`${key}.${rules.select(count)}`] ?? known[`${key}.other`] ?? key;
  return filled(word, { n: count.toLocaleString(locale), ...values });
}

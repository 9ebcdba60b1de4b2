//! What the build makes of `web/`.

#[path = "../build/catalogue.rs"]
#[expect(dead_code, reason = "the build uses all of it")]
mod catalogue;
#[path = "../build/names.rs"]
mod names;
#[path = "../build/slim.rs"]
mod slim;
#[path = "../build/tokens.rs"]
mod tokens;

use crate::{PAGES, page};

/// Bytes of script that a page may load, compressed, whatever state it is in.
const BUDGETS: &[(&str, usize)] = &[
    ("home", 8_000),
    ("event", 8_000),
    ("show", 8_000),
    ("room", 10_000),
    ("seats", 22_000),
    ("checkout", 14_000),
];

#[test]
fn no_page_loads_more_script_than_its_budget() {
    for (name, most) in BUDGETS {
        let page = page(name).unwrap();
        let bytes = page.script_bytes;
        assert!(bytes <= *most, "{name} loads {bytes} bytes");
    }
}

#[test]
fn a_page_mentions_the_tokens_first() {
    for page in PAGES {
        assert_eq!(page.styles[0], "tokens.css", "{}", page.name);
    }
}

#[test]
fn comments_and_indentation_are_not_sent_and_code_is() {
    let script = "// A line.\n/* Many\n   lines */ go();\n  const a = /** @type {X} */ (b);\n\
                  /** Types. */ const c = 'x // y';\n";
    assert_eq!(
        slim::script(script),
        "go();\nconst a =  (b);\nconst c = 'x // y';\n"
    );
    assert_eq!(
        slim::style("/* Why */\na { b: c } /* d */\n"),
        "a { b: c }\n"
    );
    assert_eq!(slim::html("<p>\n  a\n\n</p>\n"), "<p>\na\n</p>\n");
}

fn catalogue(files: [&'static str; 4]) -> catalogue::Catalogue {
    catalogue::Catalogue::read(|language| {
        let at = catalogue::LANGUAGES.iter().position(|it| *it == language);
        files[at.unwrap()].to_owned()
    })
}

#[test]
fn a_page_learns_the_words_that_it_names_and_no_others() {
    let words = "'a.b': 'It\\'s {n}',\n'c.one': '1',\n'c.other': 'n',\n'd': 'D',\n";
    let catalogue = catalogue([words; 4]);
    let keys = catalogue.named_by(&["t('a.b'); counted(\"c\", n); t('d' + x, 'dd')".to_owned()]);
    assert_eq!(keys, ["a.b", "c.one", "c.other", "d"]);
    assert_eq!(
        catalogue.module(&["a.b", "c.one"], 1),
        "import{learn}from'../words.js';learn({'a.b':'It\\'s {n}',\n'c.one':'1'});\n"
    );
}

#[test]
#[should_panic(expected = "web/words/fr.js has no 'b'")]
fn a_word_that_a_language_lacks_fails_the_build() {
    catalogue([
        "'a': '1',\n'b': '2',",
        "'a': '1',\n'b': '2',",
        "'a': '1',",
        "'a': '1',\n'b': '2',",
    ]);
}

#[test]
fn a_short_key_is_none_that_a_script_has_for_something_else() {
    let words =
        "'a.b': 'It',\n'c.one': '1',\n'c.other': 'n',\n'd.e.one': '1',\n'd.e.other': 'n',\n";
    let (short, keys) = catalogue([words; 4]).abbreviated(|key| key != "A0");
    let keys: Vec<(&str, &str)> = keys.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    assert_eq!(keys, [("a.b", "A1"), ("c", "c"), ("d.e", "A2")]);
    assert_eq!(
        short.named_by(&["t('A1', 'A2')".to_owned()]),
        ["A1", "A2.one", "A2.other"]
    );
    assert_eq!(
        short.module(&["A1", "A2.one"], 0),
        "import{learn}from'../words.js';learn({A1:'It',\n'A2.one':'1'});\n"
    );
}

fn tight(script: &str) -> String {
    tokens::write(&tokens::read(script))
}

#[test]
fn space_that_means_nothing_goes_and_strings_stay() {
    let same = |script: &str, expected: &str| assert_eq!(tight(script), expected);
    same("const a = { b: 1, c, };\n", "const a={b:1,c};");
    same("if (a) {\nreturn b;\n}\ngo();\n", "if(a){return b}go();");
    same("return 'a = b' + \"c, d\";", "return'a = b'+\"c, d\";");
    same(
        "x = `a ${ b ? `c ${d}` : '}' } e`;",
        "x=`a ${b?`c ${d}`:'}'} e`;",
    );
    same(
        "a.replace(/ [/'] /g, '') / 2;",
        "a.replace(/ [/'] /g,'')/2;",
    );
    same("a = b + +c - -d;", "a=b+ +c- -d;");
    same("i++; j--; static #a;", "i++;j--;static #a;");
    same(
        "async function* a() {}\nclass B extends C {}",
        "async function*a(){}class B extends C{}",
    );
}

fn short(script: &str) -> String {
    let mut read = tokens::read(script);
    names::shorten(&mut read);
    tokens::write(&read)
}

#[test]
fn names_that_nobody_else_knows_become_short() {
    let same = |script: &str, expected: &str| assert_eq!(short(script), expected);
    same(
        "function sum(first, second) { return first + second; }\nsum(1, 2);",
        "function c(a,b){return a+b}c(1,2);",
    );
    same(
        "const twice = (value) => { const other = value; return `${other} ${value}`; };",
        "const c=(a)=>{const b=a;return`${b} ${a}`};",
    );
    same(
        "class House { #rows = []; add(row, { at: place = 0, ...rest }) { this.#rows.push(row, place, rest); } }",
        "class d{#a=[];add(a,{at:b=0,...c}){this.#a.push(a,b,c)}}",
    );
    same(
        "for (const [key, value] of all) { go(key, value); }",
        "for(const[a,b]of all){go(a,b)}",
    );
    same(
        "try { go(); } catch (error) { tell(error); }",
        "try{go()}catch(a){tell(a)}",
    );
}

#[test]
fn names_that_others_know_stay() {
    let stays = |script: &str| assert_eq!(short(script), tight(script));
    // Globals, properties, methods, what is imported and exported, and `{ both }`.
    stays("document.title = location.href;");
    stays("import { el, show as display } from './elements.js';\nel(display);");
    stays("export function open({ scale, left = 2 }) { return scale * left; }");
    stays("export const { lang } = document, [, ...address] = parts;\ngo(lang, address);");
    stays("export class Shop { list = 1; open() { return { list: this.list, go() {} }; } }");
    // A short name is never that of a global or an import.
    assert_eq!(
        short("import { a } from './a.js';\nconst own = (it) => a(it, b);"),
        "import{a}from'./a.js';const d=(c)=>a(c,b);"
    );
    // One name for two variables of different scopes stays one name.
    assert_eq!(
        short("const price = 'x';\nfunction tell(price) { return price; }\ntell(price);"),
        "const a='x';function b(a){return a}b(a);"
    );
}

#[test]
fn numbers_stand_where_they_are_used_and_casts_go() {
    assert_eq!(
        short("const MOST = 3,\n  LEAST = 1;\nconst A = 2;\ngo(MOST, LEAST, A);"),
        "go(3,1,2);"
    );
    assert_eq!(short("let at = 1;\nat++;"), "let a=1;a++;");
    assert_eq!(
        short("export const MOST = 3;\ngo(MOST);"),
        "export const MOST=3;go(MOST);"
    );
    assert_eq!(
        short("a = (b);\n(c).d = [(e)];\nf((g) => (h ? i : j));"),
        "a=b;c.d=[e];f((d)=>h?i:j);"
    );
    assert_eq!(short("a === (b || c);\nd = (e, f);"), "a===(b||c);d=(e,f);");
}

#[test]
fn declarations_are_joined_and_signs_that_say_nothing_go() {
    let same = |script: &str, expected: &str| {
        let mut read = tokens::read(script);
        tokens::join_declarations(&mut read);
        tokens::drop_spare_signs(&mut read);
        assert_eq!(tokens::write(&read), expected);
    };
    same(
        "const a = 1;\nconst { b } = a;\nlet c;\ngo();",
        "let a=1,{b}=a,c;go();",
    );
    same(
        "const a = 1;\ngo();\nconst b = () => { const c = 2; const d = 3; };",
        "let a=1;go();let b=()=>{let c=2,d=3};",
    );
    same(
        "export const a = 1;\nconst b = 2;",
        "export let a=1;let b=2;",
    );
    same(
        "for (let i = 0; i < 2; i++) go();\nlet j;",
        "for(let i=0;i<2;i++)go();let j;",
    );
    same(
        "go((it) => it, true, 0.5, 10_000);",
        "go(it=>it,!0,.5,10000);",
    );
}

#[test]
fn the_seat_page_is_one_file_and_what_it_loads_later() {
    // It has a copy of what all pages share, except for the words that its page learns.
    assert_eq!(page("seats").unwrap().imports, ["words.js"]);
}

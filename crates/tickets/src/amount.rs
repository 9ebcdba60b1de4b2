//! Money as people of a language write it.

use onsale_domain::language::Language;
use onsale_domain::money::Money;

/// Keeps an amount and its currency on one line.
const NO_BREAK: char = '\u{a0}';
/// What French puts between groups of digits.
const NARROW_NO_BREAK: char = '\u{202f}';

/// `€1,234.50`, or `1.234,50 €`, with as many decimals as the currency has. A currency
/// without a sign that all readers of a language know is named by its code.
pub fn amount(money: Money, language: Language) -> String {
    let number = number(money, language);
    match (language, money.currency.as_str()) {
        (Language::En, "EUR") => format!("€{number}"),
        (Language::En, "GBP") => format!("£{number}"),
        (Language::En, "USD") => format!("${number}"),
        (_, "EUR") => format!("{number}{NO_BREAK}€"),
        (_, code) => format!("{number}{NO_BREAK}{code}"),
    }
}

fn number(money: Money, language: Language) -> String {
    let (group, point, shortest_grouped) = match language {
        Language::En => (',', '.', 4),
        Language::De => ('.', ',', 4),
        Language::Fr => (NARROW_NO_BREAK, ',', 4),
        // Spanish leaves four digits together.
        Language::Es => ('.', ',', 5),
    };
    let decimals = money.currency.decimals();
    let unit = 10u64.pow(decimals);
    let (whole, rest) = (money.amount.0 / unit, money.amount.0 % unit);
    let digits = whole.to_string();
    let is_grouped = digits.len() >= shortest_grouped;
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if is_grouped && i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(group);
        }
        text.push(digit);
    }
    if decimals > 0 {
        let width = decimals as usize;
        text.push_str(&format!("{point}{rest:0width$}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use onsale_domain::money::{Cents, Currency};

    /// In English, German, French and Spanish, with every space a plain one.
    fn of(cents: u64, code: &str) -> [String; 4] {
        let money = Money {
            amount: Cents(cents),
            currency: Currency::parse(code).unwrap(),
        };
        let spaces = [NO_BREAK, NARROW_NO_BREAK];
        Language::ALL.map(|language| amount(money, language).replace(spaces, " "))
    }

    #[test]
    fn amounts_have_the_separators_of_the_language_and_the_decimals_of_the_currency() {
        for (cents, code, written) in [
            (4_500, "EUR", ["€45.00", "45,00 €", "45,00 €", "45,00 €"]),
            (
                123_450,
                "EUR",
                ["€1,234.50", "1.234,50 €", "1 234,50 €", "1234,50 €"],
            ),
            (
                123_456_789,
                "USD",
                [
                    "$1,234,567.89",
                    "1.234.567,89 USD",
                    "1 234 567,89 USD",
                    "1.234.567,89 USD",
                ],
            ),
            (
                4_500,
                "JPY",
                ["4,500 JPY", "4.500 JPY", "4 500 JPY", "4500 JPY"],
            ),
            (
                1_004_505,
                "KWD",
                [
                    "1,004.505 KWD",
                    "1.004,505 KWD",
                    "1 004,505 KWD",
                    "1004,505 KWD",
                ],
            ),
            (0, "EUR", ["€0.00", "0,00 €", "0,00 €", "0,00 €"]),
        ] {
            assert_eq!(of(cents, code), written);
        }
    }
}

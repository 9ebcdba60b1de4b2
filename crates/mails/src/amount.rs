//! Money as people of a language write it.

use onsale_domain::language::Language;
use onsale_domain::money::Money;

/// Keeps an amount and its currency on one line.
const NO_BREAK: char = '\u{a0}';

/// `1,234.50 EUR`, or `1.234,50 EUR`, with as many decimals as the currency has.
pub(crate) fn amount(money: Money, language: Language) -> String {
    let (group, point) = match language {
        Language::En => (',', '.'),
        Language::De => ('.', ','),
    };
    let decimals = money.currency.decimals();
    let unit = 10u64.pow(decimals);
    let (whole, rest) = (money.amount.0 / unit, money.amount.0 % unit);
    let digits = whole.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(group);
        }
        text.push(digit);
    }
    if decimals > 0 {
        let width = decimals as usize;
        text.push_str(&format!("{point}{rest:0width$}"));
    }
    format!("{text}{NO_BREAK}{}", money.currency)
}

#[cfg(test)]
mod tests {
    use super::*;
    use onsale_domain::money::{Cents, Currency};

    #[test]
    fn amounts_have_the_separators_of_the_language_and_the_decimals_of_the_currency() {
        let of = |cents, code| {
            let money = Money {
                amount: Cents(cents),
                currency: Currency::parse(code).unwrap(),
            };
            Language::ALL.map(|language| amount(money, language).replace(NO_BREAK, " "))
        };
        assert_eq!(of(4_500, "EUR"), ["45.00 EUR", "45,00 EUR"]);
        assert_eq!(
            of(123_456_789, "USD"),
            ["1,234,567.89 USD", "1.234.567,89 USD"]
        );
        assert_eq!(of(4_500, "JPY"), ["4,500 JPY", "4.500 JPY"]);
        assert_eq!(of(1_004_505, "KWD"), ["1,004.505 KWD", "1.004,505 KWD"]);
        assert_eq!(of(0, "EUR"), ["0.00 EUR", "0,00 EUR"]);
    }
}

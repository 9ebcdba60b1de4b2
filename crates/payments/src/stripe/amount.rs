//! Amounts as Stripe counts them. It follows ISO 4217 but for these.

use onsale_domain::money::{Cents, Currency, Money};

/// They have no minor unit any more, and Stripe goes on counting hundredths.
const COUNTED_IN_HUNDREDTHS: [&str; 2] = ["ISK", "UGX"];

fn per_unit(currency: Currency) -> u64 {
    match COUNTED_IN_HUNDREDTHS.contains(&currency.as_str()) {
        true => 100,
        false => 1,
    }
}

/// An amount as it is sent.
pub(super) fn sent(money: Money) -> String {
    let amount = money.amount.0.saturating_mul(per_unit(money.currency));
    amount.to_string()
}

/// An amount as it came.
pub(super) fn received(amount: u64, currency: Currency) -> Cents {
    Cents(amount / per_unit(currency))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_what_stripe_takes_for_the_same_money() {
        let table = [
            ("EUR", 4_500, "4500"),
            ("JPY", 4_500, "4500"),
            ("HUF", 4_500, "4500"),
            ("ISK", 4_500, "450000"),
            ("UGX", 50_000, "5000000"),
        ];
        for (code, amount, text) in table {
            let (currency, amount) = (Currency::parse(code).unwrap(), Cents(amount));
            assert_eq!(sent(Money { amount, currency }), text, "{code}");
            assert_eq!(received(text.parse().unwrap(), currency), amount, "{code}");
        }
    }
}

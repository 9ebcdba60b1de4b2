//! The provider rejects what we ask of it: no card was refused, but our key, our account or
//! our request. Trying again may help once somebody has mended that, so they have to hear
//! of it before every hold has lapsed.

use crate::error::Error;
use crate::ports::PaymentFailure;

pub(crate) fn count_rejection(failure: &PaymentFailure) {
    if let PaymentFailure::Ours(why) = failure {
        metrics::counter!("onsale_provider_rejections_total").increment(1);
        tracing::error!(why, "the payment provider rejects our calls");
    }
}

impl From<PaymentFailure> for Error {
    fn from(failure: PaymentFailure) -> Self {
        tracing::warn!(%failure, "the payment provider");
        count_rejection(&failure);
        Self::Unavailable
    }
}

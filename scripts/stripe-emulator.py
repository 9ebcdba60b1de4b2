"""Runs localstripe, a Stripe emulator, as the tests need it:  .tools/venv/bin/python scripts/stripe-emulator.py PORT

Three things differ from the command `localstripe`. It listens on this machine only. It keeps
everything in memory: the command writes /tmp/localstripe.pickle after every request, whoever
else runs one, and cannot be told not to. And it sends the webhook that Stripe sends when money
is reserved, without which nobody hears that a buyer has passed 3-D Secure.
"""

import sys

from aiohttp import web
from localstripe import resources, server, webhooks

resources.Store.dump_to_disk = lambda store: None

create_charge = resources.PaymentIntent._create_charge


def create_charge_and_tell(intent, on_failure_now):
    create_charge(intent, on_failure_now)
    if intent.status == "requires_capture":
        webhooks.schedule_webhook(resources.Event("payment_intent.amount_capturable_updated", intent))


resources.PaymentIntent._create_charge = create_charge_and_tell

# A webhook that nobody takes must not keep the process from ending.
web.run_app(server.app, host="127.0.0.1", port=int(sys.argv[1]), shutdown_timeout=1)

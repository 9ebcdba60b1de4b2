"""Runs localstripe, a Stripe emulator, as the tests need it:  .tools/venv/bin/python scripts/stripe-emulator.py PORT

Some things differ from the command `localstripe`. It listens on this machine only. It keeps
everything in memory: the command writes /tmp/localstripe.pickle after every request, whoever
else runs one, and cannot be told not to. It sends the webhook that Stripe sends when money
is reserved, without which nobody hears that a buyer has passed 3-D Secure. It takes another card
after a declined one, and knows the declined one by Stripe's own name. And it can be made slow:

    PUT /_slow      requests for payments wait from now on
    GET /_slow      {"waiting": how many do}
    DELETE /_slow   they go on, except those whose caller is gone
"""

import asyncio
import sys

from aiohttp import web
from localstripe import resources, server, webhooks

resources.Store.dump_to_disk = lambda store: None

create_charge = resources.PaymentIntent._create_charge
update = resources.PaymentIntent._update
canonical_method = resources.PaymentMethod._try_get_canonical_test_article


def create_charge_and_tell(intent, on_failure_now):
    create_charge(intent, on_failure_now)
    if intent.status == "requires_capture":
        webhooks.schedule_webhook(resources.Event("payment_intent.amount_capturable_updated", intent))


def update_and_forget_failure(intent, **data):
    if "payment_method" in data and intent.status == "requires_payment_method":
        intent.latest_charge = None
    update(intent, **data)


resources.PaymentIntent._create_charge = create_charge_and_tell
resources.PaymentIntent._update = update_and_forget_failure
resources.PaymentMethod._try_get_canonical_test_article = lambda name: canonical_method(
    "pm_card_chargeCustomerFail" if name == "pm_card_chargeDeclined" else name
)


class Slow:
    """Keeps requests for payments waiting while it is switched on."""

    def __init__(self):
        self.gone_on = asyncio.Event()
        self.gone_on.set()
        self.waiting = 0

    async def switch(self, request):
        if request.method == "PUT":
            self.gone_on.clear()
        elif request.method == "DELETE":
            self.gone_on.set()
        return web.json_response({"waiting": self.waiting})

    @web.middleware
    async def middleware(self, request, handler):
        if request.path == "/_slow":
            return await self.switch(request)
        if not request.path.startswith("/v1/payment_intents") or self.gone_on.is_set():
            return await handler(request)
        self.waiting += 1
        try:
            await self.gone_on.wait()
        finally:
            self.waiting -= 1
        if request.transport is None or request.transport.is_closing():
            raise web.HTTPServiceUnavailable
        return await handler(request)


server.app.middlewares.insert(0, Slow().middleware)

# A webhook that nobody takes must not keep the process from ending.
web.run_app(server.app, host="127.0.0.1", port=int(sys.argv[1]), shutdown_timeout=1)

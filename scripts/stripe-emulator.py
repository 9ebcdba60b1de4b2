"""Runs localstripe, a Stripe emulator, as the tests need it:  .tools/venv/bin/python scripts/stripe-emulator.py PORT

Some things differ from the command `localstripe`. It listens on this machine only. It keeps
everything in memory: the command writes /tmp/localstripe.pickle after every request, whoever
else runs one, and cannot be told not to. It sends the webhook that Stripe sends when money
is reserved, without which nobody hears that a buyer has passed 3-D Secure. It takes another card
after a declined one, and knows the declined one by Stripe's own name. It knows where a buyer comes
back to: without `use_stripe_sdk`, 3-D Secure is a page of its own, GET /_bank/{id}, with a link to
pass and one to fail. And it can be made slow:

    PUT /_slow      requests for payments wait from now on
    GET /_slow      {"waiting": how many do}
    DELETE /_slow   they go on, except those whose caller is gone
"""

import asyncio
import sys

from aiohttp import web
from localstripe import resources

resources.Store.dump_to_disk = lambda store: None

PORT = int(sys.argv[1])
CONFIRM = "/v1/payment_intents/{id}/confirm"
confirm = resources.PaymentIntent._api_confirm
return_urls = {}


def confirm_and_come_back(id, return_url=None, use_stripe_sdk=None, **data):
    intent = confirm(id, **data)
    return_urls[id] = return_url
    if intent.next_action and return_url and use_stripe_sdk not in ("true", True):
        url = f"http://127.0.0.1:{PORT}/_bank/{id}"
        intent.next_action = {
            "type": "redirect_to_url",
            "redirect_to_url": {"url": url, "return_url": return_url},
        }
    return intent


# The server reads this list when it is imported.
resources.extra_apis[:] = [
    (method, url, confirm_and_come_back if url == CONFIRM else call) for method, url, call in resources.extra_apis
]

from localstripe import server, webhooks  # noqa: E402

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


@web.middleware
async def bank(request, handler):
    """The page on which a buyer passes 3-D Secure, or fails to."""
    if not request.path.startswith("/_bank/"):
        return await handler(request)
    id = request.path.removeprefix("/_bank/")
    intent = resources.PaymentIntent._api_retrieve(id)
    passed = request.query.get("pass")
    if passed is None:
        links = '<a href="?pass=true">Pass</a> <a href="?pass=false">Fail</a>'
        return web.Response(text=f"<!doctype html><title>Bank</title><h1>Is it you?</h1>{links}", content_type="text/html")
    if intent.next_action:
        resources.PaymentIntent._api_authenticate(id, client_secret=intent.client_secret, success=passed)
    told = "succeeded" if passed == "true" else "failed"
    raise web.HTTPSeeOther(f"{return_urls[id]}?payment_intent={id}&redirect_status={told}")


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
server.app.middlewares.insert(0, bank)

# A webhook that nobody takes must not keep the process from ending.
web.run_app(server.app, host="127.0.0.1", port=PORT, shutdown_timeout=1)

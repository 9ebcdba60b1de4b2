// The waiting room in workerd without a script: forms, cookies and some patience.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startCloud } from './cloud.mjs';
import { allAt, freshSecrets, startWorker } from './worker.mjs';

let cloud;
let worker;

before(async () => {
  const { bindings } = freshSecrets();
  cloud = await startCloud(bindings);
  worker = await startWorker({ bindings: { ...bindings, FUNCTION_URLS: allAt(cloud.url), RATE_LIMIT: 'off' } });
});
after(async () => {
  await worker?.stop();
  await cloud?.stop();
});

/** A browser without scripts: it keeps cookies, sends forms and follows where they lead. */
class Browser {
  #cookies = new Map();

  async #send(path, options = {}) {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { accept: 'text/html', ...(cookie && { cookie }), ...options.headers };
    const answer = await fetch(`${worker.url}${path}`, { redirect: 'manual', ...options, headers });
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = line.match(/^([^=]+)=([^;]*)/);
      if (value) this.#cookies.set(name, value);
      else this.#cookies.delete(name);
    }
    return answer;
  }

  async open(path) {
    const answer = await this.#send(path);
    return { path, status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
  }

  /** Sends a form as it stands in a page. */
  async submit(page, action) {
    const form = page.text.split('<form').find((form) => form.includes(`action="${action}"`));
    assert.ok(form, `no form for ${action} in ${page.text}`);
    const body = new URLSearchParams();
    for (const [input] of form.split('</form>')[0].matchAll(/<input[^>]*>/g)) {
      const [, name] = input.match(/name="([^"]*)"/) ?? [];
      const [, value = ''] = input.match(/value="([^"]*)"/) ?? [];
      if (name) body.append(name, value);
    }
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: worker.url };
    const answer = await this.#send(action, { method: 'POST', headers, body: body.toString() });
    const text = await answer.text();
    const location = answer.headers.get('location');
    return location ? this.open(location) : { path: action, status: answer.status, text };
  }

  get cookies() {
    return [...this.#cookies.keys()];
  }
}

test('without a script a visitor joins, enters, and leaves by forms', async () => {
  const show = cloud.newShow();
  const room = `/room/${show.id}`;
  const browser = new Browser();
  let page = await browser.open(room);
  assert.equal(page.status, 200);
  assert.match(page.type, /^text\/html/);
  const early = await browser.submit(page, `${room}/join`);
  assert.equal(early.status, 400, 'the form is to be sent later');
  await new Promise((resolve) => setTimeout(resolve, 21_000));
  page = await browser.submit(page, `${room}/join`);
  assert.equal(page.status, 200);
  assert.ok(browser.cookies.includes('onsale_ticket'));
  for (const end = Date.now() + 30_000; !page.text.includes(`action="${room}/enter"`) && Date.now() < end;) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    page = await browser.open(room);
  }
  page = await browser.submit(page, `${room}/enter`);
  assert.equal(page.path, `${room}?inside`);
  assert.ok(browser.cookies.includes('onsale_pass'));
  page = await browser.submit(page, `${room}/leave`);
  assert.equal(page.status, 200);
  assert.ok(!browser.cookies.includes('onsale_pass') && !browser.cookies.includes('onsale_ticket'));
  assert.equal(cloud.closed.length, 1);
});

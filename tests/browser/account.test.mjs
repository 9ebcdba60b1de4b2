// The reader's account in Chromium, and passwords by mailed links. Run as session.test.mjs is.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { assertAccessible } from './browser.mjs';
import { logIn, newEmail, password, send, url } from './organiser.mjs';
import { assertFits, close, fillIn, headline, mailed, newShow, open, organiser, press, start } from './reader.mjs';

before(start);
after(close);

async function reader(t, options) {
  const email = newEmail();
  const token = await logIn('buyer', email);
  return { email, token, ...(await open(t, '/account', { token, ...options })) };
}

test('a reader changes the name and the language of their account', async (t) => {
  const { page, token, assertSound } = await reader(t);
  await headline(page, 'Your account');
  await page.getByLabel('Your name').fill('Robin Hood');
  await press(page, 'Save the name');
  await page.getByText('Saved.').waitFor();
  assert.equal((await send('GET', '/api/v1/me', undefined, token)).name, 'Robin Hood');
  assertSound();
  await page.getByLabel('Language of pages and mails').selectOption('de');
  await press(page, 'Change the language');
  await headline(page, 'Ihr Konto');
  assert.equal((await send('GET', '/api/v1/me', undefined, token)).language, 'de');
});

test('an address is proven by the mailed link', async (t) => {
  const { page, email } = await reader(t);
  await page.getByText('Nobody has confirmed this address yet.').waitFor();
  await press(page, 'Send me a link');
  await page.getByText(`A link is on its way to ${email}.`).waitFor();
  await page.goto(await mailed(email, '/prove/'));
  await press(page, 'Confirm the address');
  await headline(page, 'Your address is confirmed');
  await page.goto(`${url}/account`);
  await page.getByText('Your address is confirmed.').waitFor();
});

test('a password is changed, and refused where the current one is wrong', async (t) => {
  const { page, email } = await reader(t);
  await page.getByLabel('Current password').fill('not the one');
  await page.getByLabel('New password').fill('another horse');
  await press(page, 'Set the password');
  await page.getByRole('alert').filter({ hasText: 'The current password is wrong.' }).waitFor();
  await page.getByLabel('Current password').fill(password);
  await press(page, 'Set the password');
  await page.getByText('Your new password is set.').waitFor();
  await send('POST', '/api/v1/sessions', { email, password: 'another horse' });
});

test('what is stored is downloaded, and an account with a password is deleted with it only', async (t) => {
  const { page, email, token } = await reader(t);
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download my data' }).click()]);
  assert.match(await readFile(await download.path(), 'utf8'), new RegExp(email));
  await press(page, 'Delete my account');
  await page.getByRole('dialog').waitFor();
  await press(page, 'No, keep it');
  await press(page, 'Delete my account');
  const dialog = page.getByRole('dialog');
  for (const wrong of ['', 'not the one']) {
    await dialog.getByLabel('Password').fill(wrong);
    await press(page, 'Yes, delete it');
    await dialog.getByRole('alert').filter({ hasText: 'The password is missing or wrong.' }).waitFor();
  }
  await assertAccessible(page, 'delete');
  await dialog.getByLabel('Password').fill(password);
  await press(page, 'Yes, delete it');
  await headline(page, 'Your account is deleted');
  const answer = await fetch(`${url}/api/v1/me`, { headers: { Authorization: `Bearer ${token}` } });
  assert.equal(answer.status, 401);
});

test('an account without a password is deleted without one', async (t) => {
  const { token } = await send('POST', '/api/v1/accounts', { email: newEmail(), name: 'Bo', role: 'buyer' });
  const { page } = await open(t, '/account', { token });
  await press(page, 'Delete my account');
  await press(page, 'Yes, delete it');
  await headline(page, 'Your account is deleted');
});

/** The next request to such an address is done, and its answer is lost. */
const loseAnswer = (context, address) =>
  context.route(address, async (route) => {
    await route.fetch();
    await context.clearCookies();
    await route.abort();
  }, { times: 1 });

test('a link whose answer was lost logs in after a reload, and says as whom', async (t) => {
  const email = newEmail();
  await send('POST', '/api/v1/accounts', { email, name: 'Bo', role: 'buyer' });
  await send('POST', '/api/v1/session-links', { email });
  const { page, context } = await open(t, await mailed(email, '/log-in/'));
  await loseAnswer(context, '**/api/v1/session-links/*');
  await press(page, 'Log in');
  await page.getByText(/We cannot reach the server/).waitFor();
  await page.reload();
  await press(page, 'Log in');
  await headline(page, 'You are logged in');
  await page.getByText(`This is the account of Bo, ${email}.`).waitFor();
  assert.deepEqual(await page.evaluate(() => Object.keys(sessionStorage)), [], 'an answered request needs no key');
});

test('a password whose answer was lost is set by the same words after a reload', async (t) => {
  const email = newEmail();
  await logIn('buyer', email);
  await send('POST', '/api/v1/password-resets', { email });
  const { page, context } = await open(t, await mailed(email, '/reset/'));
  await loseAnswer(context, '**/api/v1/password-resets/*');
  await page.getByLabel('New password').fill('a new horse');
  await press(page, 'Set the password');
  await page.getByText(/We cannot reach the server/).waitFor();
  await page.reload();
  await page.getByLabel('New password').fill('a new horse');
  await press(page, 'Set the password');
  await headline(page, 'Your new password is set');
});

test('a registration whose answer was lost gives its session after a reload', async (t) => {
  const email = newEmail();
  const { page, context } = await open(t, '/account');
  const introduce = async () => {
    await press(page, 'I have no account yet');
    await page.getByLabel('Your name').fill('Bo');
    await page.getByLabel('Email address').fill(email);
    await press(page, 'Continue');
  };
  await loseAnswer(context, '**/api/v1/accounts');
  await introduce();
  await page.getByText(/We cannot reach the server/).waitFor();
  await page.reload();
  await introduce();
  await headline(page, 'Your account');
});

test('a password is reset by the mailed link, with the keyboard alone', async (t) => {
  const email = newEmail();
  await logIn('buyer', email);
  await send('POST', '/api/v1/password-resets', { email });
  const link = await mailed(email, '/reset/');
  const { page, assertSound } = await open(t, link);
  await headline(page, 'Choose a password');
  await page.locator('h2').focus();
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'password');
  await page.keyboard.type('short');
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('#password').evaluate((it) => it.validity.tooShort), true);
  await page.keyboard.type(' but longer now');
  await page.keyboard.press('Enter');
  await headline(page, 'Your new password is set');
  assert.match(await page.evaluate(() => document.activeElement.textContent), /is set/, 'listeners hear it');
  await page.getByRole('link', { name: 'Log in and see my tickets' }).click();
  await fillIn(page, email);
  await page.getByRole('alert').filter({ hasText: /password is wrong/i }).waitFor();
  await fillIn(page, email, 'short but longer now');
  await headline(page, 'No tickets yet');
  assertSound();

  const late = await open(t, link);
  await late.page.getByLabel('New password').fill('yet another one');
  await press(late.page, 'Set the password');
  await headline(late.page, 'This link does not work any more');
  await late.page.getByLabel('Email address').fill(email);
  await press(late.page, 'Send me a link');
  await headline(late.page, 'Look into your inbox');
});

test('invited staff set a password and hear what it is for', async (t) => {
  const email = newEmail();
  await send('POST', '/api/v1/staff', { email, name: 'Gate', show_ids: [await newShow()] }, organiser);
  const { page, assertSound } = await open(t, await mailed(email, '/invitation/'));
  await page.getByLabel('New password').fill(password);
  await page.getByLabel('Show the password').check();
  assert.equal(await page.getByLabel('New password').inputValue(), password);
  await press(page, 'Set the password');
  await headline(page, 'Welcome to the team');
  assert.equal((await send('POST', '/api/v1/sessions', { email, password })).role, 'staff');
  assertSound();
});

for (const colorScheme of ['light', 'dark']) {
  for (const width of [320, 1280]) {
    test(`account and password pages are accessible, ${width} px wide and ${colorScheme}`, async (t) => {
      const options = { colorScheme, viewport: { width, height: 800 } };
      const token = await logIn('buyer');
      const pages = [
        ['account', '/account', 'Your account'],
        ['reset', '/reset/none', 'Choose a password'],
        ['invitation', '/invitation/none', 'Choose a password'],
        ['log-in-link', '/log-in/none', 'Log in'],
        ['prove', '/prove/none', 'Confirm your address'],
      ];
      for (const [name, path, says] of pages) {
        const { page, context } = await open(t, path, { token, ...options });
        await headline(page, says);
        await assertAccessible(page, name);
        await assertFits(page, name);
        const shots = process.env.ONSALE_SCREENSHOTS;
        if (shots) await page.screenshot({ path: `${shots}/${name}-${width}-${colorScheme}.png`, fullPage: true });
        await context.close();
      }
    });
  }
}

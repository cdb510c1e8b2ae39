// What a person sees on the page, checked in a real Chromium. Usage: node page.mjs ADDRESS SCREENSHOTS [KEY]
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const require = createRequire(process.env.GBOSE_NPM + "/");
const { chromium } = require("playwright-core");
const [address, screenshots] = process.argv.slice(2);

const browser = await chromium.launch({ timeout: 90000, executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const problems = [];

async function open(options, path = "/") {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(90000); // a busy machine is slow, not wrong
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => message.type() === "error" && !message.text().includes("401") && problems.push(message.text()));
  page.on("request", (request) => {
    if (!request.url().startsWith(address) && !request.url().startsWith("data:")) problems.push(`asked ${request.url()}`);
  });
  await page.goto(address + path);
  return page;
}

const fits = (page) => page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth + 1);

// The overview leads to the bandit, by keyboard alone.
let page = await open({ viewport: { width: 1200, height: 900 } });
await page.getByRole("link", { name: "news" }).waitFor();
assert.equal(await page.locator("h1").textContent(), "1 bandit");
await page.screenshot({ path: `${screenshots}/service-overview.png` });
for (let i = 0; i < 5 && (await page.evaluate(() => document.activeElement.textContent)) !== "news"; i++) await page.keyboard.press("Tab");
await page.keyboard.press("Enter");
await page.getByRole("heading", { name: "Is it better?" }).waitFor();

// It says that the learner is better than chance, and by how much: the truth of the world that was played.
await page.locator(".verdict .good").first().waitFor();
const verdicts = await page.locator(".verdict").allTextContents();
assert.ok(verdicts.some((text) => /\+0\.\d+ a round compared with playing at random \[\+0\.\d+, \+/.test(text)), verdicts.join("\n"));
const cards = await page.locator(".card").allTextContents();
assert.ok(cards.some((text) => text === "3,000decisions"), cards.join("|"));
assert.ok(cards.some((text) => /^\d+ (s|min) agothe model last learned$/.test(text)), cards.join("|"));
await page.locator(".u-wrap canvas").nth(3).waitFor();
assert.equal(await page.locator(".u-wrap canvas").count(), 4);
assert.ok((await page.locator("body").textContent()).includes("Following it removes"));
assert.ok(await page.locator(".interval").count() >= 3);
for (const text of ["level v(t)", "Share of arms", "Closed with the default reward", "as far as can be seen", "Support: 100% of what chance would play", "a plain linear learner would be misled", "closed with a reward", "late rewards", "waiting for a reward"])
  assert.ok((await page.locator("main").textContent()).includes(text), text);
assert.ok(await fits(page));
await page.screenshot({ path: `${screenshots}/service-bandit.png`, fullPage: true });

// Why? decides again, and gets the same.
await page.getByRole("button", { name: "Why?" }).first().click();
await page.locator("#why").waitFor({ state: "visible" });
const why = JSON.parse(await page.locator("#why").textContent());
assert.equal(why.recomputed.same, true);
await page.close();

// A new generation learns the log, and takes over at a click.
page = await open({ viewport: { width: 1200, height: 900 } }, "/#/b/news");
await page.getByLabel("Spec of a new generation").fill("gbose");
await page.keyboard.press("Enter");
await page.evaluate(() => document.activeElement.blur());
await page.locator("button:enabled", { hasText: "Activate" }).click();
await page.getByRole("button", { name: "Roll back" }).waitFor();
await page.getByRole("button", { name: "Roll back" }).click();
await page.locator("button:enabled", { hasText: "Activate" }).waitFor();
await page.getByLabel("Spec of a new generation").fill("no-such-learner");
await page.keyboard.press("Enter");
const refusal = () => document.getElementById("status").textContent.includes("unknown learner");
await page.waitForFunction(refusal);
await page.evaluate(() => document.activeElement.blur());
await page.waitForTimeout(2500); // the page looks again, and the person has not read it yet
assert.ok(await page.evaluate(refusal), "the refusal is gone before it was read");
await page.close();

// The learner into the shadow and back, and the way out, by keyboard.
page = await open({ viewport: { width: 1200, height: 900 } }, "/#/b/news");
const pressed = (name) => page.locator('button[aria-pressed="true"]', { hasText: name }).first().waitFor();
await pressed("The learner decides");
await page.getByRole("button", { name: "in the shadow" }).click();
await pressed("in the shadow");
await page.getByRole("button", { name: "The learner decides" }).focus();
await page.keyboard.press("Enter");
await pressed("The learner decides");
await page.getByRole("button", { name: "Play the base arm only" }).click();
await page.getByRole("button", { name: "Stop playing the base arm" }).click();
await page.getByRole("button", { name: "Play the base arm only" }).waitFor();
await page.close();

// A phone, in the dark.
page = await open({ viewport: { width: 375, height: 700 }, colorScheme: "dark", isMobile: true, deviceScaleFactor: 2 }, "/#/b/news");
await page.locator(".u-wrap canvas").nth(3).waitFor();
assert.ok(await fits(page), "the page is wider than a phone");
const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
assert.ok(dark.match(/\d+/g).slice(0, 3).every((n) => Number(n) < 60), dark);
await page.screenshot({ path: `${screenshots}/service-phone.png` });
await page.close();

await browser.close();
const unexpected = problems.filter((text) => !text.includes("status of 400"));
assert.deepEqual(unexpected, []);
console.log("the page is fine");

// The example with three headlines, seen by six visitors of whom three read on. Usage: node headlines.mjs ADDRESS
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const require = createRequire(process.env.GBOSE_NPM + "/");
const { chromium } = require("playwright-core");
const [address] = process.argv.slice(2);
const browser = await chromium.launch({ timeout: 90000, executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
const headlines = ["Rain expected", "Umbrellas: what the shops hide", "Dry by Friday, says model"];
const problems = [];

for (let visitor = 0; visitor < 6; visitor++) {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: visitor % 3 ? 1000 : 400, height: 700 } });
  const page = await context.newPage();
  page.setDefaultTimeout(90000);
  page.on("pageerror", (error) => problems.push(String(error)));
  await page.goto(address);
  await page.waitForFunction(() => document.getElementById("headline").textContent !== "\u2026");
  assert.ok(headlines.includes(await page.locator("#headline").textContent()));
  if (visitor % 2) {
    const told = page.waitForResponse((response) => response.url().endsWith("/rewards"));
    await page.locator("#headline").click();
    assert.equal((await told).status(), 200);
  }
  await context.close();
}
assert.deepEqual(problems, []);
await browser.close();
console.log("the headlines are fine");

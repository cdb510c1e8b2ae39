// What the page of one server says of all of them, checked in a real Chromium. Usage: node fleet.mjs ADDRESS SERVERS MODEL LEARNED
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const require = createRequire(process.env.GBOSE_NPM + "/");
const { chromium } = require("playwright-core");
const [address, servers, model, learned] = process.argv.slice(2);

const browser = await chromium.launch({ timeout: 90000, executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage();
page.setDefaultTimeout(90000); // a busy machine is slow, not wrong
await page.goto(address);
await page.getByRole("heading", { name: `${servers} servers` }).waitFor();
const table = page.locator("h2 + * table, h2 + table").last();
const names = await table.locator("th").allTextContents();
const rows = await Promise.all((await table.locator("tbody tr").all()).map((row) => row.locator("td").allTextContents()));
const shown = rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]])));
assert.equal(shown.length, Number(servers), JSON.stringify(shown));
for (const row of shown) {
  assert.equal(row.Model, model, JSON.stringify(row));
  assert.equal(row.Behind, "0", JSON.stringify(row));
  assert.equal(row.Learned, learned, JSON.stringify(row));
  assert.equal(row.Store, "reachable", JSON.stringify(row));
}
assert.equal(shown.filter((row) => row.Trains === "yes").length, 1, JSON.stringify(shown));
assert.equal(new Set(shown.map((row) => row.Stream)).size, shown.length);
await browser.close();
console.log("the page is fine");

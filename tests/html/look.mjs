// Looks at the reports of a folder in Chromium: red.html, green.html, comparison.html. Ends with 1 if anything is wrong.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const folder = resolve(process.argv[2]);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await puppeteer.launch({
  executablePath: "/usr/bin/chromium",
  args: process.getuid() === 0 ? ["--no-sandbox"] : [],
});
const wrong = [];
const check = (holds, text) => {
  if (!holds) wrong.push(text);
};

// What axe finds on a page.
const accessible = async (page, name) => {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run());
  for (const { id, nodes } of violations) wrong.push(`${name}: axe: ${id}: ${nodes[0].html.slice(0, 200)} (${nodes.length})`);
};

const look = async (report, width, scheme, act) => {
  const name = `${report}-${width}-${scheme}`;
  const page = await browser.newPage();
  page.on("console", (message) => wrong.push(`${name}: console: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`${name}: ${error.message}`));
  page.on("request", (request) => check(/^(file|data):/.test(request.url()), `${name}: asks for ${request.url()}`));
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.goto(pathToFileURL(`${folder}/${report}.html`).href);
  await page.screenshot({ path: `${folder}/${name}.png` });
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  check(wider <= 0, `${name}: the page is ${wider} px wider than the screen`);
  await accessible(page, name);
  if (act) await act(page, name);
  await page.close();
};

// The drill that opens. The browser tells a page of a new fragment some time after the click that set it.
const opens = async (page, name) => {
  try {
    return await (await page.waitForSelector("details.drill[open]")).evaluate((it) => it.id);
  } catch (error) {
    wrong.push(`${name}: no drill opens: ${error.message}`);
    return null;
  }
};

// Filters the matrix, follows the first group to its drill, and opens the picture.
const drill = async (page, name) => {
  const rows = () => page.$$eval(".matrix tbody tr", (all) => all.filter((row) => !row.hidden).length);
  const all = await rows();
  await page.click('input[name="outcome"][value="failed"]');
  const failed = await rows();
  check(failed > 0 && failed < all, `${name}: the filter left ${failed} of ${all} rows`);
  await page.type('input[name="words"]', "no such scenario");
  check((await rows()) === 0, `${name}: a word that no row has left some`);
  await page.click(".groups .first a");
  const opened = await opens(page, name);
  const hash = await page.evaluate(() => decodeURIComponent(location.hash.slice(1)));
  check(opened === hash && hash.startsWith("drill="), `${name}: ${hash} opened ${opened}`);
  check((await page.$$("details.drill[open] svg.lanes .missed, details.drill[open] svg.lanes .wrong")).length > 0, `${name}: nothing is missed in the picture`);
  check((await page.$$("details.drill[open] svg.lanes line.read")).length > 0, `${name}: no reads in the picture`);
  await page.screenshot({ path: `${folder}/${name}-drill.png` });
  await accessible(page, `${name}, a drill opened`);
  await page.reload();
  check((await opens(page, name)) === opened, `${name}: the link does not open its drill after a reload`);
  check((await page.$$("details.drill[open]")).length === 1, `${name}: the link opens more than its drill`);
  // A fragment that is no encoding ends no script: the filter still works.
  await page.evaluate(() => { location.hash = "#100%"; });
  await page.reload();
  await page.click('input[name="outcome"][value="failed"]');
  check((await rows()) === failed, `${name}: after an odd fragment the filter left other rows`);
};

for (const width of [390, 1280]) {
  for (const scheme of ["light", "dark"]) {
    await look("red", width, scheme, drill);
    await look("green", width, scheme);
    await look("comparison", width, scheme);
  }
}
await browser.close();
for (const text of wrong) console.log(text);
console.log(wrong.length === 0 ? "the reports are as they should be" : `${wrong.length} mistakes`);
process.exitCode = wrong.length === 0 ? 0 : 1;

import { type Browser, chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];
const START_TIMEOUT_MS = 20_000;

/** Starts the Chromium of this machine, or the one that SVC_TEST_CHROMIUM names. */
async function startBrowser(): Promise<Browser | undefined> {
  const found = NAMES.map((name) => Bun.which(name)).find((path) => path !== null);
  const executablePath = process.env.SVC_TEST_CHROMIUM || found;
  if (!executablePath) {
    console.warn("Tests in a browser are skipped: there is no Chromium (SVC_TEST_CHROMIUM).");
    return undefined;
  }
  try {
    // The sandbox does not start as root or in most containers; the tests open pages of this project alone.
    return await chromium.launch({ executablePath, args: ["--no-sandbox"], timeout: START_TIMEOUT_MS });
  } catch (cause) {
    if (process.env.CI === "true") throw cause;
    console.warn(`Tests in a browser are skipped: ${executablePath} does not start.`);
    return undefined;
  }
}

/** A headless Chromium; undefined where tests in a browser are skipped. With `CI=true` one that does not start is an error. */
export const browser = await startBrowser();

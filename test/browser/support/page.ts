import type { BrowserContext, CDPSession, Page, Response } from "playwright-core";
import { sharedBrowser, sharedNode } from "./shared.ts";

export interface ConsolePageOptions {
  readonly theme?: "light" | "dark";
  /** CSS pixels; 1280 if omitted. */
  readonly width?: number;
  readonly height?: number;
  /** A node of the test's own; without one, the demo node of the process. */
  readonly origin?: string;
  readonly reducedMotion?: boolean;
  readonly hasScripts?: boolean;
  /** Whether Trusted Types are enforced, as in all tests but those that measure. */
  readonly trustedTypes?: boolean;
  /** Faults that the test causes: lines of the console, reports, or URLs. */
  readonly expects?: readonly RegExp[];
  /** The browser's language. Default: en-US. */
  readonly locale?: string;
}

/** A page in a context of its own: nothing is stored, no wallet is there. */
export interface ConsolePage extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly origin: string;
  /** Opens a path of the node and waits for its heading. */
  goto(path: string): Promise<Response | null>;
  /** What is wrong so far: errors in the console, violations of the policies, requests to other origins. */
  faults(): readonly string[];
  /** Closes the context. @throws if there was a fault that the test did not expect. */
  close(): Promise<void>;
}

const HEIGHT_PX = 900;
/** A page of a busy machine loads slowly. */
const PAGE_TIMEOUT_MS = 90_000;
/** Responses of the API are for the page to show; Chromium also writes them to the console. */
const API_PATH = /^\/(v1|v2|quick-auth|approve|ready|status|console\/(api|op|demo))(\/|$)/;

/** Opens an empty page in the Chromium of this process. */
export async function consolePage(options: ConsolePageOptions = {}): Promise<ConsolePage> {
  const { theme = "light", width = 1280, height = HEIGHT_PX, expects = [], trustedTypes = true } = options;
  const [browser, origin] = await Promise.all([sharedBrowser(), options.origin ?? sharedNode()]);
  const context = await browser.newContext({
    locale: options.locale ?? "en-US",
    timezoneId: "UTC",
    colorScheme: theme,
    reducedMotion: options.reducedMotion ? "reduce" : "no-preference",
    viewport: { width, height },
    javaScriptEnabled: options.hasScripts ?? true,
    permissions: ["clipboard-read", "clipboard-write"],
  });
  context.setDefaultTimeout(PAGE_TIMEOUT_MS);
  const faults: string[] = [];
  const add = (fault: string) => {
    if (!expects.some((expected) => expected.test(fault))) faults.push(fault);
  };
  context.on("request", (request) => {
    const url = request.url();
    if (!/^(data|blob|about):/.test(url) && new URL(url).origin !== origin) add(`request to ${url}`);
  });
  context.on("weberror", (error) => add(`uncaught: ${error.error().message}`));
  context.on("console", (message) => {
    if (message.type() !== "error") return;
    const { url } = message.location();
    const isAnswer = message.text().startsWith("Failed to load resource") && API_PATH.test(pathOf(url));
    if (!isAnswer) add(`console: ${message.text()} (${url})`);
  });
  const page = await context.newPage();
  if (trustedTypes) await enforceTrustedTypes(await context.newCDPSession(page), origin);

  let isClosed = false;
  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    await context.close();
    if (faults.length > 0) throw new Error(`the page has faults:\n${faults.join("\n")}`);
  };
  return {
    page,
    context,
    origin,
    async goto(path) {
      const response = await page.goto(origin + path);
      await page.locator("h1").first().waitFor();
      return response;
    },
    faults: () => [...faults],
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * Waits until all regions of a page have their data. A region is busy from the first time that it is drawn, and what an effect begins
 * is drawn in the next frame: so nothing may be busy before and after two frames.
 */
export async function settled(page: Page): Promise<void> {
  await page.locator("h1").first().waitFor();
  // Called once in each frame. A promise would count as true, whatever it resolves to.
  await page.waitForFunction((call) => {
    const state = globalThis as { quiet?: { call: number; frames: number } };
    const isBusy = document.querySelector('[aria-busy="true"]') !== null;
    const frames = isBusy || state.quiet?.call !== call ? 0 : state.quiet.frames + 1;
    state.quiet = { call, frames };
    return frames > 2;
  }, settledCalls++);
}

/** Has a page believe that its tab was hidden, or is shown again. */
export const setVisibility = (page: Page, state: "visible" | "hidden"): Promise<void> =>
  page.evaluate((value) => {
    Object.defineProperty(document, "visibilityState", { value, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, state);

/** Waits until what has the focus has this text: a sheet gives the focus back once it has closed. */
export async function focusComesTo(page: Page, text: string): Promise<void> {
  await page.waitForFunction((wanted) => document.activeElement?.textContent?.trim() === wanted, text);
}

let settledCalls = 0;

const pathOf = (url: string) => (URL.canParse(url) ? new URL(url).pathname : "");

/** Adds a policy to each document. The product does not enforce it, because wallets run in the page. */
async function enforceTrustedTypes(session: CDPSession, origin: string): Promise<void> {
  session.on("Fetch.requestPaused", async ({ requestId, responseHeaders = [], responseStatusCode = 200 }) => {
    try {
      const { body, base64Encoded } = await session.send("Fetch.getResponseBody", { requestId });
      await session.send("Fetch.fulfillRequest", {
        requestId,
        responseCode: responseStatusCode,
        responseHeaders: [
          ...responseHeaders.filter(({ name }) => !/^content-(encoding|length)$/i.test(name)),
          {
            name: "Content-Security-Policy",
            value: "require-trusted-types-for 'script'; trusted-types 'none'",
          },
        ],
        body: base64Encoded ? body : Buffer.from(body).toString("base64"),
      });
    } catch {
      // The page no longer exists.
    }
  });
  await session.send("Fetch.enable", {
    patterns: [{ urlPattern: `${origin}/*`, resourceType: "Document", requestStage: "Response" }],
  });
}

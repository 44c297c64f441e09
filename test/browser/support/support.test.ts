import { expect, test } from "bun:test";
import { axeViolations } from "./axe.ts";
import { consoleTest } from "./console-test.ts";
import { consolePage } from "./page.ts";
import { HAS_BROWSER } from "./shared.ts";
import { demoAccount, injectWallet } from "./wallet.ts";

const faultOf = async (cause: () => unknown): Promise<string> => {
  const opened = await consolePage();
  await opened.goto("/console");
  await opened.page.evaluate(cause).catch(() => undefined);
  return opened.close().then(
    () => "none",
    (error: Error) => error.message,
  );
};

test.skipIf(!HAS_BROWSER)(
  "a page fails for what a browser forbids, for errors and for requests to others",
  async () => {
    const [html, inline, foreign, uncaught] = await Promise.all([
      faultOf(() => {
        document.body.innerHTML = "<b>text</b>";
      }),
      faultOf(() => document.body.setAttribute("style", "color: red")),
      faultOf(() => fetch("https://elsewhere.example/")),
      faultOf(
        () =>
          new Promise((resolve) => {
            setTimeout(resolve, 20);
            setTimeout(() => {
              throw new Error("unexpected");
            });
          }),
      ),
    ]);
    expect(html).toContain("TrustedHTML");
    expect(inline).toContain("Content Security Policy");
    expect(foreign).toContain("https://elsewhere.example/");
    expect(uncaught).toContain("unexpected");
  },
);

consoleTest(
  "an injected wallet announces itself, asks its user and signs on its chain only",
  async (open) => {
    const { page, goto } = await open();
    const account = demoAccount(3);
    const wallet = await injectWallet(page, account, { name: "One", chainId: 1, knownChains: [1] });
    await goto("/console");
    const answers = await page.evaluate(async (address) => {
      interface Announced {
        readonly info: { readonly name: string };
        readonly provider: { request(call: unknown): Promise<unknown> };
      }
      const { info, provider } = await new Promise<Announced>((resolve) => {
        addEventListener("eip6963:announceProvider", (event) => resolve((event as CustomEvent).detail));
        dispatchEvent(new Event("eip6963:requestProvider"));
      });
      const ask = (method: string, params?: unknown[]) =>
        provider.request({ method, params }).catch((error: { code: number }) => error.code);
      const types = { Word: [{ name: "text", type: "string" }] };
      const data = { domain: { chainId: 10 }, types, primaryType: "Word", message: { text: "bread" } };
      return [
        info.name,
        await ask("eth_accounts"),
        await ask("eth_requestAccounts"),
        await ask("eth_signTypedData_v4", [address, JSON.stringify(data)]),
        await ask("wallet_switchEthereumChain", [{ chainId: "0xa" }]),
        await ask("eth_signTypedData_v4", [address, JSON.stringify({ ...data, domain: { chainId: 1 } })]),
      ];
    }, account.address);
    expect(answers.slice(0, 5)).toEqual(["One", [], [account.address], -32_603, 4902]);
    expect(answers[5]).toMatch(/^0x[0-9a-f]{130}$/);
    expect(wallet.prompts).toEqual(["eth_requestAccounts", "Word"]);
  },
);

consoleTest("axe finds what is wrong with a page, and only that", async (open) => {
  const { page, goto } = await open();
  await goto("/console");
  const before = await axeViolations(page);
  await page.evaluate(() => document.body.append(document.createElement("button")));
  const after = await axeViolations(page);
  expect(after.filter((line) => !before.includes(line)).map((line) => line.split(" ")[0])).toEqual([
    "button-name",
  ]);
});

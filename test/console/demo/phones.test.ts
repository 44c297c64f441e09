import { describe, expect, test } from "bun:test";
import { createDemoPhones } from "../../../src/console/demo/phones.ts";
import { isDemoFid } from "../../../src/demo/roster.ts";

const phonesNow = () =>
  createDemoPhones({
    urlOf: (clientFid) => `http://127.0.0.1:${clientFid}/clients/${clientFid}`,
    nowMs: () => 5,
    setTimer: () => () => undefined,
  });

/** The tokens that the reports of `people` name, by client. */
function tokensOf(phones: ReturnType<typeof phonesNow>, people: number) {
  const byClient = new Map<number, string[]>();
  for (const { clientFid, envelope } of phones.envelopes("App1", people)) {
    const { notificationDetails } = JSON.parse(Buffer.from(envelope.payload, "base64url").toString());
    expect(notificationDetails.url).toEndWith(`/clients/${clientFid}`);
    byClient.set(clientFid, [...(byClient.get(clientFid) ?? []), notificationDetails.token]);
  }
  return byClient;
}

const notification = (tokens: readonly string[], notificationId = "n1") => ({
  notificationId,
  title: "Fresh bread",
  body: "The oven is hot",
  targetUrl: "https://bread.demo.example/",
  tokens,
});

describe("the demo phones", () => {
  test("every person reports through one of two clients", () => {
    const phones = phonesNow();
    const reports = phones.envelopes("App1", 200);
    expect(new Set(reports.map(({ fid }) => fid)).size).toBe(200);
    expect(reports.every(({ fid }) => isDemoFid(fid))).toBeTrue();
    expect([...tokensOf(phones, 200).keys()].sort()).toEqual([1, 2]);
  });

  test("a phone buzzes once for a notification, however often it is posted, and also after a restart", async () => {
    const [[clientFid, tokens] = [0, []]] = tokensOf(phonesNow(), 25);
    const phones = phonesNow();
    for (let nth = 0; nth < 2; nth++) {
      const { result } = phones.show(clientFid, notification(tokens));
      expect(result).toEqual({ successfulTokens: tokens, invalidTokens: [], rateLimitedTokens: [] });
    }
    const { events, last } = await phones.next(0, 1);
    expect(events[0]?.event).toMatchObject({ fid: 1, clientFid, appId: "App1", title: "Fresh bread" });
    expect((await phones.next(last, 1)).last).toBe(tokens.length);
  });

  test("the second client asks to send every tenth later, and then accepts it", () => {
    const phones = phonesNow();
    const tokens = tokensOf(phones, 200).get(2) ?? [];
    const { result } = phones.show(2, notification(tokens));
    expect(result.rateLimitedTokens).toEqual(tokens.filter((_, index) => index % 10 === 9));
    const again = phones.show(2, notification(result.rateLimitedTokens));
    expect(again.result.successfulTokens).toEqual(result.rateLimitedTokens);
  });

  test("tokens of other clients, other people and other texts are invalid", () => {
    const phones = phonesNow();
    const foreign = tokensOf(phones, 25).get(2) ?? [];
    const tokens = [
      ...foreign,
      "demo-App1-201",
      "demo-App1-0",
      "demo--3",
      "demo-App1-3 ",
      "",
      "x".repeat(10_000),
    ];
    const { result } = phones.show(1, notification(tokens));
    expect(result).toEqual({ successfulTokens: [], invalidTokens: tokens, rateLimitedTokens: [] });
  });
});

import { describe, expect, test } from "bun:test";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { secretText, standardSecret } from "../../../src/webhooks/deliver/sign.ts";
import { makeSecret } from "../../management/owned-store-contract.ts";
import { openDeliveryBench, secretOf } from "../../support/deliveries.ts";
import { type ReceivedRequest, startReceiver } from "../../support/receiver.ts";

const BODY = '{"created_at":1,"type":"cast.created","data":{"text":"Grüße 🎈"}}';

/** Sends one delivery over a real socket and returns it as received. */
async function delivered(input: Parameters<ReturnType<typeof openDeliveryBench>["addWebhook"]>[2] = {}) {
  await using bench = openDeliveryBench();
  await using receiver = startReceiver();
  bench.time.advanceMs(Date.now() - bench.time.nowMs());
  const hook = await bench.addWebhook("a", receiver.port, input);
  await bench.start();
  await bench.publish([hook], BODY);
  await bench.settled(hook, 1);
  return receiver.requests[0] as ReceivedRequest;
}

describe("the official Standard Webhooks library", () => {
  test("verifies a delivery with its standard_secret, and rejects another secret or body", async () => {
    const { headers, body } = await delivered();
    const webhook = new Webhook(standardSecret(secretOf("a").value));
    const input = Object.fromEntries(headers);
    expect(webhook.verify(body, input)).toEqual(JSON.parse(BODY));
    expect(() => webhook.verify(`${body} `, input)).toThrow(WebhookVerificationError);
    const other = new Webhook(standardSecret(makeSecret(7).value));
    expect(() => other.verify(body, input)).toThrow(WebhookVerificationError);
  });

  test("verifies a delivery with each unexpired secret during a rotation", async () => {
    const secrets = [makeSecret(1), makeSecret(2)];
    const { headers, body } = await delivered({ secrets });
    for (const { value } of secrets)
      expect(new Webhook(standardSecret(value)).verify(body, Object.fromEntries(headers))).toBeObject();
  });

  test("reads the text of a secret from either form", () => {
    const { value } = makeSecret(5);
    for (const form of [value, standardSecret(value)]) expect(secretText(form)).toBe(value);
  });
});

describe("the signature header of the hosted API", () => {
  test("is sent for a webhook created under a compat prefix, with the value of the service's own header", async () => {
    const { headers } = await delivered({ compatPrefix: "farcaster" });
    expect(headers.get("x-neynar-signature")).toMatch(/^[0-9a-f]{128}$/);
    expect(headers.get("x-neynar-signature")).toBe(headers.get("x-svc-signature"));
  });

  test("is not sent for other webhooks", async () => {
    const { headers } = await delivered();
    expect(headers.has("x-svc-signature")).toBe(true);
    expect(headers.has("x-neynar-signature")).toBe(false);
  });
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { decode, encodeHeader, encodePayload, encodeSignature, verify } from "@farcaster/jfs";
import { fromHex, type Hex } from "../../../src/protocol/validate/eth.ts";
import type { TestApi } from "../../support/api.ts";
import { clientKey, keyAddedEvent, officialEnvelope, type TestEnvelope } from "../../support/envelopes.ts";
import { makeWallet, type TestWallet } from "../../support/messages.ts";
import {
  addressOf,
  authWallet,
  custody,
  PERSON,
  post,
  signText,
  startSignInApi,
} from "../../support/sign-in.ts";

const appKey = clientKey(PERSON, 9152);
const stranger = makeWallet("stranger");
let api: TestApi;
beforeAll(async () => {
  api = await startSignInApi();
  api.node.ingestEvent(keyAddedEvent(PERSON, appKey.publicKey, { block: 910_000 }, { requestFid: 9152 }));
});
afterAll(() => api[Symbol.asyncDispose]());

/** An envelope as the official library writes it, signed by a wallet. */
function envelopeBy(wallet: TestWallet, type: "custody" | "auth", encode = encodeSignature): TestEnvelope {
  const header = encodeHeader({ fid: PERSON, type, key: addressOf(wallet) });
  const payload = encodePayload({ domain: "app.example" });
  return { header, payload, signature: encode(fromHex(signText(`${header}.${payload}`, wallet))) };
}
const legacy = (bytes: Uint8Array) =>
  Buffer.from(`0x${Buffer.from(bytes).toString("hex")}`).toString("base64url");
const padded = (text: string) => Buffer.from(text, "base64url").toString("base64");
const check = async (body: object, query = "") => (await post(api, `/v2/svc/jfs/verify${query}`, body)).body;

const honest = envelopeBy(custody, "custody");

describe("check 23: envelopes that the official library accepts are valid", () => {
  test.each<[string, TestEnvelope, object]>([
    ["custody", honest, { key_bound_by: "custody", encoding: "raw" }],
    ["auth", envelopeBy(authWallet, "auth"), { key_bound_by: "auth_address", encoding: "raw" }],
    ["an auth header with the custody address", envelopeBy(custody, "auth"), { key_bound_by: "custody" }],
    ["the old encoding", envelopeBy(custody, "custody", legacy), { encoding: "legacy" }],
    ["app_key", officialEnvelope(PERSON, appKey, { domain: "app.example" }), { key_bound_by: "app_key" }],
  ])("%s", async (_, envelope, expected) => {
    await verify({ data: envelope });
    expect(await check(envelope)).toMatchObject({
      valid: true,
      signature_valid: true,
      faults: [],
      ...expected,
    });
    const compact = `${envelope.header}.${envelope.payload}.${envelope.signature}`;
    expect(await check({ compact })).toMatchObject({ valid: true, fid: PERSON, domain: "app.example" });
  });

  test("base64 with padding counts as sent, also what is signed", async () => {
    const header = padded(honest.header);
    const payload = padded(honest.payload);
    const signature = Buffer.from(fromHex(signText(`${header}.${payload}`))).toString("base64");
    expect(await check({ header, payload, signature })).toMatchObject({ valid: true });
  });
});

describe("check 23: a broken part is named", () => {
  const faults = async (body: object, query = "") =>
    ((await check(body, query)).faults as { part: string }[]).map(({ part }) => part);
  const header = (value: object) => ({
    ...honest,
    header: Buffer.from(JSON.stringify(value)).toString("base64url"),
  });

  test.each<[string, object, readonly string[]]>([
    ["header without base64", { ...honest, header: "{}" }, ["header"]],
    ["header that is no object", { ...honest, header: "W10" }, ["header"]],
    ["fid of zero", header({ fid: 0, type: "custody", key: addressOf(custody) }), ["header"]],
    ["fid as text", header({ fid: "3", type: "custody", key: addressOf(custody) }), ["header"]],
    ["unknown type", header({ fid: 3, type: "signer", key: addressOf(custody) }), ["header"]],
    ["short key", header({ fid: 3, type: "custody", key: "0x12" }), ["header"]],
    ["Ed25519 key for custody", header({ fid: 3, type: "custody", key: `0x${"1".repeat(64)}` }), ["header"]],
    ["another fid", header({ fid: 4, type: "custody", key: addressOf(custody) }), ["signature", "key"]],
    ["unknown fid", header({ fid: 999, type: "custody", key: addressOf(custody) }), ["signature", "key"]],
    ["another key", header({ fid: 3, type: "custody", key: addressOf(stranger) }), ["signature", "key"]],
    ["payload without base64", { ...honest, payload: "*" }, ["payload"]],
    ["another payload", { ...honest, payload: encodePayload({ domain: "b.example" }) }, ["signature"]],
    ["signature without base64", { ...honest, signature: "!" }, ["signature"]],
    ["short signature", { ...honest, signature: "AAAA" }, ["signature"]],
    ["signature of zeros", { ...honest, signature: encodeSignature(new Uint8Array(65)) }, ["signature"]],
    [
      "signature with another end",
      { ...honest, signature: `${honest.signature.slice(0, -4)}AAAA` },
      ["signature"],
    ],
    ["a stranger's key and signature", envelopeBy(stranger, "custody"), ["key"]],
    ["a stranger as auth address", envelopeBy(stranger, "auth"), ["key"]],
    ["an auth address as custody", envelopeBy(authWallet, "custody"), ["key"]],
    ["an app_key of another fid", officialEnvelope(4, appKey, {}), ["key"]],
  ])("%s", async (_, body, parts) => {
    const verdict = await check(body);
    expect(verdict.valid).toBe(false);
    expect((verdict.faults as { part: string }[]).map(({ part }) => part)).toEqual([...parts]);
  });

  test("a type that was not asked for is a fault of the header", async () => {
    expect(await faults({ ...honest, type: "app_key" })).toEqual(["header"]);
  });

  test("a body without the three parts is 400, and an unknown `accept`, too", async () => {
    expect((await post(api, "/v2/svc/jfs/verify", { header: "a", payload: "b" })).status).toBe(400);
    expect((await post(api, "/v2/svc/jfs/verify", { compact: "a.b" })).status).toBe(400);
    expect((await post(api, "/v2/svc/jfs/verify?accept=all", honest)).status).toBe(400);
  });
});

test("the key of the official library's header is the one that is reported", async () => {
  const { header } = decode(honest);
  expect(await check(honest)).toMatchObject({ key: header.key satisfies Hex, fid: header.fid });
});

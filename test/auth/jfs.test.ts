import { describe, expect, test } from "bun:test";
import { verifyJsonFarcasterSignature } from "@farcaster/miniapp-node";
import fc from "fast-check";
import { activeKeysFromIndex, createEnvelopeVerifier } from "../../src/auth/jfs.ts";
import { ok } from "../../src/lib/result.ts";
import { ManualClock } from "../support/clock.ts";
import {
  clientKey,
  headerOf,
  keyAddedEvent,
  officialEnvelope,
  sealEnvelope,
  type TestEnvelope,
} from "../support/envelopes.ts";
import { registerEvent, signerEvent } from "../support/events.ts";
import { gaslessKeyMessage } from "../support/gasless-keys.ts";
import { invalidEnvelopes } from "../support/invalid-envelopes.ts";
import { DEFAULT_NOW_SECS, makeSigner } from "../support/messages.ts";
import { startTestNode } from "../support/node.ts";
import { custodyWallet } from "../support/signing.ts";

const FID = 5;
const CLIENT = 9152;
const signer = clientKey(FID, CLIENT);
const payload = { event: "miniapp_removed" };
const honest = officialEnvelope(FID, signer, payload);

/** A verifier that accepts one key of one fid, held by one client. */
const verify = createEnvelopeVerifier({
  activeKeyOf: (fid, key) =>
    fid === FID && Buffer.compare(key, signer.publicKey) === 0 ? { requestFid: CLIENT } : undefined,
  clock: new ManualClock(DEFAULT_NOW_SECS),
});

/** The reference library's result for an envelope, with the same keys. */
async function isOfficiallyValid(envelope: unknown): Promise<boolean> {
  try {
    await verifyJsonFarcasterSignature(envelope, async (fid, appKey) =>
      fid === FID && appKey.toLowerCase() === headerOf(FID, signer).key
        ? { valid: true, appFid: CLIENT }
        : { valid: false },
    );
    return true;
  } catch {
    return false;
  }
}

const passes = (envelope: TestEnvelope) => verify(envelope, []).ok;

describe("valid envelopes", () => {
  test("of the reference library yield fid, client and payload", () => {
    expect(verify(honest, [])).toEqual(
      ok({ fid: FID, clientFid: CLIENT, payload: new Uint8Array(Buffer.from(JSON.stringify(payload))) }),
    );
  });

  test.each([
    ["of our own making", sealEnvelope(headerOf(FID, signer), payload, signer)],
    [
      "with an upper-case key",
      sealEnvelope(
        { ...headerOf(FID, signer), key: `0x${headerOf(FID, signer).key.slice(2).toUpperCase()}` },
        payload,
        signer,
      ),
    ],
    [
      "with unknown keys",
      sealEnvelope({ ...headerOf(FID, signer), alg: "none", fids: [6] }, payload, signer),
    ],
    [
      "with white space in the header",
      sealEnvelope(` ${JSON.stringify(headerOf(FID, signer))}\n`, payload, signer),
    ],
    ["whose payload is no JSON", sealEnvelope(headerOf(FID, signer), "\u0000\uFFFD", signer)],
    ["of 40 KB", sealEnvelope(headerOf(FID, signer), { ...payload, more: "x".repeat(40_000) }, signer)],
  ])("%s pass here and with the reference library", async (_, envelope) => {
    expect(passes(envelope)).toBe(true);
    expect(await isOfficiallyValid(envelope)).toBe(true);
  });
});

test("the smallest fid, 1, passes", () => {
  const first = createEnvelopeVerifier({
    activeKeyOf: (fid) => (fid === 1 ? { requestFid: CLIENT } : undefined),
    clock: new ManualClock(DEFAULT_NOW_SECS),
  });
  expect(first(officialEnvelope(1, signer, payload), [])).toMatchObject({ ok: true, value: { fid: 1 } });
});

describe("rejects envelopes with one fault", () => {
  test.each(invalidEnvelopes(FID, signer))("%s", async (_, envelope, laxer) => {
    expect(verify(envelope, []).ok).toBe(false);
    // This node is deliberately stricter than the reference library in some cases.
    expect(await isOfficiallyValid(envelope)).toBe(laxer === "laxer");
  });

  test("there are more than 30 of them", () => {
    expect(invalidEnvelopes(FID, signer).length).toBeGreaterThan(30);
  });
});

test("rejects every change of a signed envelope without throwing", () => {
  const part = fc.constantFrom<keyof TestEnvelope>("header", "payload", "signature");
  const edit = fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }));
  fc.assert(
    fc.property(part, edit, (name, [at, byte]) => {
      const bytes = Buffer.from(honest[name], "base64url");
      const index = at % bytes.length;
      fc.pre(bytes[index] !== byte);
      bytes[index] = byte;
      expect(passes({ ...honest, [name]: bytes.toString("base64url") })).toBe(false);
    }),
    { numRuns: 300 },
  );
});

test("rejects any text in place of a part without throwing", () => {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.base64String(), fc.json());
  const envelope = fc.record({ header: text, payload: text, signature: text }, { requiredKeys: [] });
  fc.assert(
    fc.property(envelope, (parts) => {
      if (Object.keys(parts).length === 0) return;
      expect(passes({ ...honest, ...parts })).toBe(false);
    }),
    { numRuns: 500 },
  );
});

describe("an allowlist", () => {
  const fallback = createEnvelopeVerifier({
    activeKeyOf: () => ({ requestFid: 0 }),
    clock: new ManualClock(DEFAULT_NOW_SECS),
  });
  test.each([
    [[], true],
    [[CLIENT], true],
    [[1, 2, CLIENT], true],
    [[FID], true],
    [[CLIENT + 1], false],
    [[0], false],
  ])("%j lets a key of a known client pass: %p", (allowlist, expected) => {
    expect(verify(honest, allowlist).ok).toBe(expected);
  });

  test.each([
    [[], true],
    [[FID], true],
    [[CLIENT], false],
  ])("%j lets a key that names no client pass by the fid of the envelope: %p", (allowlist, expected) => {
    expect(fallback(honest, allowlist).ok).toBe(expected);
  });
});

describe("active keys of the index", () => {
  const start = () => {
    const node = startTestNode();
    node.ingestEvent(registerEvent(FID, custodyWallet(FID).address, { block: 1 }));
    node.ingestEvent(registerEvent(CLIENT, custodyWallet(CLIENT).address, { block: 2 }));
    const activeKeyOf = activeKeysFromIndex(node.db);
    const at = (secs = 0, fid = FID) => activeKeyOf(fid, signer.publicKey, DEFAULT_NOW_SECS + secs);
    return { node, at };
  };

  test("an on-chain key is active from its add to its removal, and again after another add", () => {
    const { node, at } = start();
    using _ = node;
    expect(at()).toBeUndefined();
    node.ingestEvent(keyAddedEvent(FID, signer.publicKey, { block: 10 }, { requestFid: CLIENT }));
    expect(at()).toEqual({ requestFid: CLIENT });
    expect(at(0, FID + 1)).toBeUndefined();
    expect(at(0, FID + 2 ** 32)).toBeUndefined();
    node.ingestEvent(signerEvent(FID, signer.publicKey, { block: 11 }, "remove"));
    expect(at()).toBeUndefined();
    node.ingestEvent(keyAddedEvent(FID, signer.publicKey, { block: 12 }));
    expect(at()).toEqual({ requestFid: 0 });
  });

  test("an on-chain key that the admin reset is not active, although ingest still accepts its messages", () => {
    const { node, at } = start();
    using _ = node;
    node.ingestEvent(keyAddedEvent(FID, signer.publicKey, { block: 10 }, { requestFid: CLIENT }));
    node.ingestEvent(signerEvent(FID, signer.publicKey, { block: 11 }, "admin_reset"));
    expect(at()).toBeUndefined();
  });

  test("a key of another type is not active", () => {
    const { node } = start();
    using _ = node;
    const auth = custodyWallet(77).address;
    expect(node.ingestEvent(keyAddedEvent(FID, auth, { block: 10 }, { keyType: 2 }))).toBe("ok");
    const activeKeyOf = activeKeysFromIndex(node.db);
    expect(activeKeyOf(FID, auth, DEFAULT_NOW_SECS)).toBeUndefined();
  });

  test("a gasless key is active up to and including the last second of its ttl", () => {
    const { node, at } = start();
    using _ = node;
    const message = gaslessKeyMessage({ fid: FID, signer, requestFid: CLIENT, ttlSecs: 3600, nonce: 1 });
    expect(node.ingestMessage(message)).toBe("ok");
    expect(at()).toEqual({ requestFid: CLIENT });
    expect(at(0, FID + 1)).toBeUndefined();
    expect(at(3600)).toEqual({ requestFid: CLIENT });
    expect(at(3601)).toBeUndefined();
  });

  test("an envelope of a gasless key is valid while the clock says that the key is", () => {
    const { node } = start();
    using _ = node;
    node.ingestMessage(gaslessKeyMessage({ fid: FID, signer, requestFid: CLIENT, ttlSecs: 3600, nonce: 1 }));
    const clock = new ManualClock(DEFAULT_NOW_SECS + 3600);
    const verifyAt = createEnvelopeVerifier({ activeKeyOf: activeKeysFromIndex(node.db), clock });
    expect(verifyAt(honest, [])).toMatchObject({ ok: true });
    clock.advanceSecs(1);
    expect(verifyAt(honest, [])).toMatchObject({
      ok: false,
      error: { reason: "key is not an active key of the fid" },
    });
  });

  test("a key of another fid is not active", () => {
    const { node } = start();
    using _ = node;
    node.ingestEvent(keyAddedEvent(FID, signer.publicKey, { block: 10 }));
    const other = makeSigner("other").publicKey;
    expect(activeKeysFromIndex(node.db)(FID, other, DEFAULT_NOW_SECS)).toBeUndefined();
  });
});

import { describe, expect, test } from "bun:test";
import { canonicalKey } from "../../src/protocol/auth-address.ts";
import { toHex } from "../../src/protocol/validate/eth.ts";
import { nowSecs } from "../../src/runtime/clock.ts";
import { signerEvent, transferEvent } from "../support/events.ts";
import { gaslessKeyMessage, requestMetadata } from "../support/gasless-keys.ts";
import { makeSigner, makeWallet } from "../support/messages.ts";
import { expectErr, expectOk } from "../support/result.ts";
import {
  CHAIN_REQUEST_DOMAIN,
  GASLESS_REQUEST_DOMAIN,
  signedKeyRequest,
} from "../support/signed-key-request.ts";
import { custodyOf, LINK_BASE, openSigners, signTypedData } from "../support/signers.ts";

type Fixture = ReturnType<typeof openSigners>;

const OWNER = 3;
const APP = 7;
const USER = 9;
const origin = { requestId: "r", address: "127.0.0.1" };
const actor = (ownerFid = OWNER) => ({ ownerFid, apiKeyId: "key", ...origin });
const key = makeSigner("held by the app").publicKey;
const address = makeWallet("an auth address").address;

interface Options {
  readonly domain?: object;
  readonly appFid?: number;
  readonly wallet?: ReturnType<typeof custodyOf>;
  readonly deadline?: number;
  readonly ownerFid?: number;
  readonly of?: Uint8Array;
}

function ask({ keyRequests, clock }: Fixture, options: Options = {}) {
  const { domain = GASLESS_REQUEST_DOMAIN, appFid = APP, of = key } = options;
  const { wallet = custodyOf(appFid), deadline = nowSecs(clock) + 86_400, ownerFid = OWNER } = options;
  const data = signedKeyRequest({ domain, requestFid: appFid, key: toHex(canonicalKey(of)), deadline });
  const signature = signTypedData(data, wallet);
  return keyRequests.request(actor(ownerFid), {
    key: of,
    appFid,
    deadline,
    signature,
    redirectUrl: undefined,
  });
}

const tokenOf = (url: string | undefined) => url?.split("/").at(-1) ?? "";

async function pending(fixture: Fixture, options: Options = {}): Promise<string> {
  return tokenOf(expectOk(await ask(fixture, options)).approvalUrl);
}

/** What the wallet of a user signs. */
async function prepared(fixture: Fixture, token: string, fid = USER) {
  const found = expectOk(await fixture.thread.prepareApproval(token, custodyOf(fid).address));
  if (!("keyAdd" in found)) throw new Error("a gasless key was expected");
  const { message } = found.keyAdd;
  const custodySignature = signTypedData(found.keyAdd, custodyOf(fid));
  const terms = { nonce: message.nonce, deadline: Number(message.deadline) };
  return { fid, ...terms, custodySignature, requestSignature: undefined };
}

const approve = async (fixture: Fixture, token: string, fid = USER) =>
  fixture.thread.submitApproval(token, await prepared(fixture, token, fid), origin);

const found = async ({ keyRequests }: Fixture, of = key, ownerFid = OWNER) => {
  const seen = await keyRequests.find(ownerFid, of);
  return seen && [seen.status, seen.fid];
};

/** A key on chain that an app has requested. */
function onChain(fid: number, of: Uint8Array, requestFid = APP, keyType = 1) {
  const event = signerEvent(fid, of, { block: 2_000_000 + fid });
  if (event.body?.$case === "signerEventBody") {
    event.body.value.keyType = keyType;
    event.body.value.metadata = requestMetadata(requestFid, of);
  }
  return event;
}

describe("keys that apps hold themselves", () => {
  test("one is approved by a link, in an envelope of a key that is thrown away", async () => {
    using fixture = openSigners();
    const asked = expectOk(await ask(fixture));
    expect(asked).toMatchObject({ status: "pending_approval", fid: null });
    expect(asked.approvalUrl).toMatch(new RegExp(`^${LINK_BASE}/approve/[1-9A-HJ-NP-Za-km-z]{43,44}$`));
    const token = tokenOf(asked.approvalUrl);
    expect(expectOk(await fixture.thread.viewApproval(token))).toMatchObject({ appFid: APP, publicKey: key });
    expect(expectOk(await approve(fixture, token))).toMatchObject({ status: "approved", fid: USER });
    expect(await found(fixture)).toEqual(["approved", USER]);
    const [message] = fixture.submitted;
    expect(Buffer.from(message?.signer ?? []).equals(key)).toBe(false);
    expect(fixture.node.db.sqlite.query("SELECT fid, request_fid AS app FROM gasless_keys").get()).toEqual({
      fid: USER,
      app: APP,
    });
    expect(expectErr(await fixture.thread.prepareApproval(token, custodyOf(4).address)).kind).toBe(
      "conflict",
    );
  });

  test("the same request has the same link, also after its approval; another owner has a link of its own", async () => {
    using fixture = openSigners();
    const deadline = nowSecs(fixture.clock) + 3600;
    const first = expectOk(await ask(fixture, { deadline }));
    expect(expectOk(await ask(fixture, { deadline }))).toEqual(first);
    expect(expectOk(await ask(fixture, { deadline: deadline + 1 })).approvalUrl).toBe(first.approvalUrl);
    const other = expectOk(await ask(fixture, { deadline, ownerFid: 4 }));
    expect(other.approvalUrl).not.toBe(first.approvalUrl);
    expectOk(await approve(fixture, tokenOf(first.approvalUrl)));
    expect(expectOk(await ask(fixture, { deadline }))).toEqual({
      status: "approved",
      fid: USER,
      approvalUrl: undefined,
    });
    expect(await found(fixture, key, 4)).toEqual(["approved", USER]);
    expect(await found(fixture, key, 9)).toBeUndefined();
  });

  test("a request needs the custody address of the app, a time and a user's own money", async () => {
    using fixture = openSigners();
    const now = nowSecs(fixture.clock);
    const refusal = async (options: Options) => expectErr(await ask(fixture, options)).kind;
    expect(await refusal({ wallet: custodyOf(4) })).toBe("forbidden");
    expect(await refusal({ domain: { ...GASLESS_REQUEST_DOMAIN, chainId: 10 } })).toBe("forbidden");
    expect(await refusal({ deadline: now })).toBe("badRequest");
    expect(await refusal({ deadline: now + 30 * 86_400 + 1 })).toBe("badRequest");
    expect(await refusal({ appFid: 999 })).toBe("notFound");
    expect(await refusal({ of: address, domain: GASLESS_REQUEST_DOMAIN })).toBe("badRequest");
    expect(await found(fixture)).toBeUndefined();
  });

  test("it ends at its deadline, and when the app is transferred", async () => {
    using fixture = openSigners();
    const token = await pending(fixture, { deadline: nowSecs(fixture.clock) + 60 });
    fixture.node.ingestEvent(
      transferEvent(APP, custodyOf(APP).address, makeWallet("buyer").address, { block: 3_000_000 }),
    );
    expect(expectErr(await fixture.thread.prepareApproval(token, custodyOf(USER).address))).toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("custody address has changed"),
    });
    fixture.clock.advanceSecs(61);
    expect(expectErr(await fixture.thread.viewApproval(token)).kind).toBe("gone");
    expect(await found(fixture)).toBeUndefined();
  });

  test("what is submitted is signed by the custody address of the fid, once", async () => {
    using fixture = openSigners();
    const token = await pending(fixture);
    const signed = await prepared(fixture, token);
    const submit = async (changes: Partial<typeof signed>) =>
      expectErr(await fixture.thread.submitApproval(token, { ...signed, ...changes }, origin)).kind;
    expect(await submit({ fid: 4 })).toBe("badRequest");
    expect(await submit({ nonce: signed.nonce + 1 })).toBe("badRequest");
    expect(await submit({ deadline: signed.deadline + 1 })).toBe("badRequest");
    expect(await submit({ deadline: 1 })).toBe("badRequest");
    expect(await submit({ fid: 999 })).toBe("notFound");
    expect(fixture.submitted).toEqual([]);
    expectOk(await fixture.thread.submitApproval(token, signed, origin));
    expect(await submit({})).toBe("conflict");
    expect(fixture.submitted).toHaveLength(1);
    for (let call = 0; call < 3; call++) await fixture.thread.submitApproval(token, signed, origin);
    expect(await submit({})).toBe("tooManyRequests");
  });

  test("a key that a stranger has added at another request is not reported as the app's user", async () => {
    using fixture = openSigners();
    const token = await pending(fixture);
    const signer = { ...makeSigner("x"), publicKey: key };
    const terms = { fid: 4, signer, requestFid: 4, ttlSecs: 86_400, nonce: 1 };
    expect(fixture.node.ingestMessage(gaslessKeyMessage({ ...terms, envelope: makeSigner("x") }))).toBe("ok");
    expect(await found(fixture)).toEqual(["pending_approval", null]);
    const refused = expectErr(await fixture.thread.prepareApproval(token, custodyOf(USER).address));
    expect(refused).toMatchObject({ kind: "conflict", message: expect.stringContaining("a new signer") });
  });

  test("a request for the contract is a transaction of the user's wallet; its key on chain approves, its removal revokes", async () => {
    using fixture = openSigners();
    const token = await pending(fixture, { domain: CHAIN_REQUEST_DOMAIN });
    expect(expectOk(await fixture.thread.viewApproval(token)).ttlSecs).toBeNull();
    const found9 = expectOk(await fixture.thread.prepareApproval(token, custodyOf(USER).address));
    expect(found9).toMatchObject({
      fid: USER,
      onChain: { key, requestFid: APP, requestSigner: custodyOf(APP).address },
    });
    expect(expectErr(await fixture.thread.submitApproval(token, {} as never, origin)).kind).toBe(
      "badRequest",
    );
    expect(fixture.node.ingestEvent(onChain(USER, key))).toBe("ok");
    expect(await found(fixture)).toEqual(["approved", USER]);
    fixture.node.ingestEvent(signerEvent(USER, key, { block: 2_100_000 }, "remove"));
    expect(await found(fixture)).toEqual(["revoked", USER]);
  });

  test("an auth address is approved by its key on chain at the app's request, and only by that", async () => {
    using fixture = openSigners();
    const token = await pending(fixture, { of: address, domain: CHAIN_REQUEST_DOMAIN });
    expect(expectOk(await fixture.thread.viewApproval(token))).toMatchObject({
      scopes: [],
      publicKey: address,
    });
    const { onChain: call } = expectOk(
      await fixture.thread.prepareApproval(token, custodyOf(USER).address),
    ) as { onChain?: { key: Uint8Array } };
    expect(call?.key).toEqual(address);
    const padded = canonicalKey(address);
    expect(fixture.node.ingestEvent(onChain(4, padded, 4, 2))).toBe("ok");
    expect(await found(fixture, address)).toEqual(["pending_approval", null]);
    expect(fixture.node.ingestEvent(onChain(USER, padded, APP, 2))).toBe("ok");
    expect(await found(fixture, address)).toEqual(["approved", USER]);
    fixture.node.ingestEvent(signerEvent(USER, padded, { block: 2_100_000 }, "remove"));
    expect(await found(fixture, address)).toEqual(["revoked", USER]);
  });
});

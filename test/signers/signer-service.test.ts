import { describe, expect, test } from "bun:test";
import { getFarcasterTime, makeCastAdd, NobleEd25519Signer } from "@farcaster/core";
import { createSiweMessage } from "viem/siwe";
import { getAddress, hashMessage } from "viem/utils";
import { toFarcasterSecs } from "../../src/protocol/time.ts";
import { fromHex, toHex } from "../../src/protocol/validate/eth.ts";
import { MessageData, MessageType } from "../../src/protocol/wire/generated/message.ts";
import { nowSecs } from "../../src/runtime/clock.ts";
import { keyAddTypedData, recoverKeyRequest } from "../../src/signers/key-add.ts";
import { signerEvent, transferEvent } from "../support/events.ts";
import { gaslessKeyMessage, requestMetadata } from "../support/gasless-keys.ts";
import { makeSigner, makeWallet, signDigest, type TestWallet } from "../support/messages.ts";
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
const origin = { requestId: "r", address: "127.0.0.1" };
const actor = (ownerFid = OWNER) => ({ ownerFid, apiKeyId: "key", ...origin });
const ALL = [1, 2, 3, 4, 5, 6, 7, 8, 11];

const requestData = (domain: object, requestFid: number, key: Uint8Array, deadline: number) =>
  signedKeyRequest({ domain, requestFid, key: toHex(key), deadline });

async function createSigner({ service }: Fixture, ownerFid = OWNER) {
  return expectOk(await service.create(actor(ownerFid), ALL)).signer;
}

/** Registers a signer for the app, which signs under a domain. */
async function register(
  fixture: Fixture,
  signer: { readonly signerUuid: string; readonly publicKey: Uint8Array; readonly ownerFid: number },
  options: {
    domain?: object;
    wallet?: TestWallet;
    deadline?: number;
    gasless?: boolean;
    redirectUrl?: string;
  } = {},
) {
  const { domain = CHAIN_REQUEST_DOMAIN, wallet = custodyOf(APP), redirectUrl } = options;
  const { deadline = nowSecs(fixture.clock) + 3600 } = options;
  const sign = (by: object) => signTypedData(requestData(by, APP, signer.publicKey, deadline), wallet);
  return fixture.service.register(actor(signer.ownerFid), {
    signerUuid: signer.signerUuid,
    appFid: APP,
    deadline,
    signature: sign(domain),
    gaslessSignature: options.gasless ? sign(GASLESS_REQUEST_DOMAIN) : undefined,
    redirectUrl,
  });
}

async function pendingToken(fixture: Fixture, options: Parameters<typeof register>[2] = {}) {
  const signer = await createSigner(fixture);
  const view = expectOk(await register(fixture, signer, options));
  const token = view.approvalUrl?.split("/").at(-1) ?? "";
  return { signer, token, url: view.approvalUrl };
}

/** Approves by a token as `fid` would in a browser. */
async function approve(fixture: Fixture, token: string, fid: number, wallet = custodyOf(fid)) {
  const prepared = expectOk(await fixture.approvals.prepare(token, wallet.address));
  const { keyAdd, keyRequest } = prepared;
  return fixture.thread.submitApproval(
    token,
    {
      fid,
      nonce: keyAdd.message.nonce,
      deadline: Number(keyAdd.message.deadline),
      custodySignature: signTypedData(keyAdd, wallet),
      requestSignature: keyRequest ? signTypedData(keyRequest, wallet) : undefined,
    },
    origin,
  );
}

const statusOf = async ({ service }: Fixture, signerUuid: string, ownerFid = OWNER) => {
  const { state } = expectOk(await service.lookup(actor(ownerFid), signerUuid));
  return [state.status, state.fid] as const;
};

/** A key on chain that the app has requested. */
function chainAdd(fid: number, key: Uint8Array, requestFid = APP, block = 2_000_000) {
  const event = signerEvent(fid, key, { block });
  if (event.body?.$case === "signerEventBody") event.body.value.metadata = requestMetadata(requestFid, key);
  return event;
}

describe("managed signers", () => {
  test("a new signer is generated, and only its owner finds it", async () => {
    using fixture = openSigners();
    const { signerUuid } = await createSigner(fixture);
    expect(await statusOf(fixture, signerUuid)).toEqual(["generated", null]);
    const { service } = fixture;
    expect(expectErr(await service.lookup(actor(4), signerUuid)).kind).toBe("notFound");
    expect(expectErr(await service.lookup(actor(), crypto.randomUUID())).kind).toBe("notFound");
    expect(expectErr(await fixture.signing.find({ signerUuid, ownerFid: OWNER, ...origin }))).toBe(
      "not-approved",
    );
  });

  test("an owner has at most the limit of signers", async () => {
    using fixture = openSigners({ maxSigners: 2 });
    await createSigner(fixture);
    await createSigner(fixture);
    expect(expectErr(await fixture.service.create(actor(), ALL)).kind).toBe("tooManyRequests");
  });

  test.each([
    ["the chain's domain", CHAIN_REQUEST_DOMAIN],
    ["the domain of gasless keys", GASLESS_REQUEST_DOMAIN],
  ])(
    "a signature under %s makes a signer pending, with a link that ends at the deadline",
    async (_, domain) => {
      using fixture = openSigners();
      const { signer, url } = await pendingToken(fixture, { domain });
      expect(url).toMatch(new RegExp(`^${LINK_BASE}/approve/[1-9A-HJ-NP-Za-km-z]{43,44}$`));
      expect(await statusOf(fixture, signer.signerUuid)).toEqual(["pending_approval", null]);
      fixture.clock.advanceSecs(3601);
      const { state, approvalUrl } = expectOk(await fixture.service.lookup(actor(), signer.signerUuid));
      expect([state.status, approvalUrl]).toEqual(["generated", undefined]);
    },
  );

  test("console-next 7: one call creates a signer and the link on which one user approves it", async () => {
    using fixture = openSigners();
    const wanted = { permissions: [1], userFid: 4, deadline: undefined };
    const view = expectOk(await fixture.service.createForApproval(actor(), wanted));
    const token = view.approvalUrl?.split("/").at(-1) ?? "";
    expect([view.state.status, view.signer.permissions]).toEqual(["pending_approval", [1]]);
    expect(expectOk(await fixture.approvals.view(token)).userFid).toBe(4);
    expect(expectErr(await fixture.approvals.prepare(token, custodyOf(9).address)).kind).toBe("conflict");
    expectOk(await approve(fixture, token, 4));
    expect(await statusOf(fixture, view.signer.signerUuid)).toEqual(["approved", 4]);
  });

  test("a link for an unknown user, in the past, too far ahead or with permissions on chain makes nothing", async () => {
    using fixture = openSigners({ maxSigners: 1 });
    const now = nowSecs(fixture.clock);
    const wanted = { permissions: [1], userFid: undefined, deadline: undefined };
    for (const [bad, kind] of [
      [{ userFid: 99_999 }, "notFound"],
      [{ deadline: now }, "badRequest"],
      [{ deadline: now + 7 * 86_400 + 1 }, "badRequest"],
      [{ permissions: [MessageType.MESSAGE_TYPE_CHANNEL_PIN] }, "badRequest"],
    ] as const)
      expect(expectErr(await fixture.service.createForApproval(actor(), { ...wanted, ...bad })).kind).toBe(
        kind,
      );
    const made = expectOk(await fixture.service.createForApproval(actor(), wanted));
    fixture.clock.advanceSecs(86_401);
    expect(await statusOf(fixture, made.signer.signerUuid)).toEqual(["generated", null]);
  });

  test("a registration by another wallet, of another app or in the past is refused", async () => {
    using fixture = openSigners();
    const { service, clock } = fixture;
    const signer = await createSigner(fixture);
    const now = nowSecs(clock);
    expect(expectErr(await register(fixture, signer, { wallet: custodyOf(9) })).kind).toBe("forbidden");
    expect(
      expectErr(await register(fixture, signer, { domain: { ...CHAIN_REQUEST_DOMAIN, chainId: 1 } })).kind,
    ).toBe("forbidden");
    expect(expectErr(await register(fixture, signer, { deadline: now })).kind).toBe("badRequest");
    expect(expectErr(await register(fixture, signer, { deadline: now + 7 * 86_400 + 1 })).kind).toBe(
      "badRequest",
    );
    expect(expectErr(await register(fixture, { ...signer, ownerFid: 4 })).kind).toBe("notFound");
    const request = { signerUuid: signer.signerUuid, deadline: now + 60, redirectUrl: undefined };
    const signature = new Uint8Array(65);
    const more = { ...request, signature, gaslessSignature: undefined };
    expect(expectErr(await service.register(actor(), { ...more, appFid: 999 })).kind).toBe("notFound");
    expect(await statusOf(fixture, signer.signerUuid)).toEqual(["generated", null]);
    for (const redirectUrl of [
      "javascript:alert(1)",
      "data:text/html,x",
      "http://x",
      "x",
      "https://a b",
      " https://x",
      "ms-msdt:/id",
      "search-ms:query=x",
      "shell:startup",
      "feed:javascript:alert(1)",
    ])
      expect(expectErr(await register(fixture, signer, { redirectUrl })).kind).toBe("badRequest");
    for (const redirectUrl of ["https://app.example/back?x=1", "myapp://back"])
      expectOk(await register(fixture, signer, { redirectUrl }));
  });

  test("a second registration ends the link of the first", async () => {
    using fixture = openSigners();
    const { signer, token } = await pendingToken(fixture);
    const second = expectOk(await register(fixture, signer));
    expect(expectErr(await fixture.thread.viewApproval(token)).kind).toBe("gone");
    expectOk(await fixture.thread.viewApproval(second.approvalUrl?.split("/").at(-1) ?? ""));
  });

  test("a signer with permissions in channels only cannot be approved by a link: they need a key on chain", async () => {
    using fixture = openSigners();
    const types = [18, 19, 20, 21];
    const { signer } = expectOk(await fixture.service.create(actor(), types));
    const view = expectOk(await register(fixture, signer));
    const token = view.approvalUrl?.split("/").at(-1) ?? "";
    expect(expectOk(await fixture.thread.viewApproval(token))).toMatchObject({ scopes: [] });
    const wallet = custodyOf(9);
    const prepared = expectErr(await fixture.approvals.prepare(token, wallet.address));
    expect(prepared).toMatchObject({ kind: "badRequest", message: expect.stringContaining("on chain") });
    // Without the page, too.
    const deadline = toFarcasterSecs(nowSecs(fixture.clock)) + 60;
    const terms = { fid: 9, key: signer.publicKey, scopes: [], ttlSecs: 86_400, nonce: 1, deadline };
    const approval = {
      fid: 9,
      nonce: 1,
      deadline,
      custodySignature: signTypedData(keyAddTypedData(terms), wallet),
      requestSignature: undefined,
    };
    expect(expectErr(await fixture.thread.submitApproval(token, approval, origin))).toEqual(prepared);
    expect(fixture.submitted).toEqual([]);
    // The app brings the key on chain instead.
    expect(fixture.node.ingestEvent(chainAdd(9, signer.publicKey))).toBe("ok");
    expect(await statusOf(fixture, signer.signerUuid)).toEqual(["approved", 9]);
  });

  test("a user approves by a link; then the signer signs for only this user", async () => {
    using fixture = openSigners();
    const { signer, token } = await pendingToken(fixture);
    expect(expectOk(await fixture.thread.viewApproval(token))).toMatchObject({
      appFid: APP,
      scopes: ALL,
      ttlSecs: 86_400,
    });
    expect(expectOk(await approve(fixture, token, 9))).toMatchObject({ status: "approved", fid: 9 });
    expect(await statusOf(fixture, signer.signerUuid)).toEqual(["approved", 9]);

    const [message] = fixture.submitted;
    const data = MessageData.decode(message?.dataBytes ?? new Uint8Array());
    expect(data).toMatchObject({ type: MessageType.MESSAGE_TYPE_KEY_ADD, fid: 9 });
    expect(data.body?.$case === "keyAddBody" && data.body.value.metadata.length).toBe(288);

    const { signing, clock } = fixture;
    expect(expectErr(await signing.find({ signerUuid: signer.signerUuid, ownerFid: 4, ...origin }))).toBe(
      "unknown",
    );
    const ready = expectOk(await signing.find({ signerUuid: signer.signerUuid, ownerFid: OWNER, ...origin }));
    expect([ready.fid, ready.refusalOf(1), ready.refusalOf(16)]).toEqual([9, undefined, "out-of-scope"]);
    const timestamp = toFarcasterSecs(nowSecs(clock));
    const cast = MessageData.fromPartial({ type: 1, fid: 9, network: 1, timestamp });
    expect(expectOk(ready.sign(cast)).signer).toEqual(signer.publicKey);
    expect(() => ready.sign({ ...cast, fid: 4 })).toThrow(RangeError);
    expect(expectErr(ready.sign({ ...cast, type: MessageType.MESSAGE_TYPE_KEY_REMOVE }))).toBe(
      "out-of-scope",
    );
  });

  test("where the app has signed for gasless keys, it is the requester, and the user signs once", async () => {
    using fixture = openSigners();
    const { signer, token } = await pendingToken(fixture, { gasless: true });
    const prepared = expectOk(await fixture.approvals.prepare(token, custodyOf(9).address));
    expect(prepared.keyRequest).toBeNull();
    expectOk(await approve(fixture, token, 9));
    expect(fixture.node.db.sqlite.query("SELECT request_fid AS app FROM gasless_keys").get()).toEqual({
      app: APP,
    });
    expect(await statusOf(fixture, signer.signerUuid)).toEqual(["approved", 9]);
  });

  test("what is submitted must be signed by the custody address of the fid, for this key, nonce and deadline", async () => {
    using fixture = openSigners();
    const { signer, token } = await pendingToken(fixture);
    const { thread, clock } = fixture;
    const { fid, keyAdd, keyRequest } = expectOk(
      await fixture.approvals.prepare(token, custodyOf(9).address),
    );
    const signed = {
      fid,
      nonce: keyAdd.message.nonce,
      deadline: Number(keyAdd.message.deadline),
      custodySignature: signTypedData(keyAdd, custodyOf(9)),
      requestSignature: keyRequest ? signTypedData(keyRequest, custodyOf(9)) : undefined,
    };
    const submit = async (changes: Partial<typeof signed>) =>
      expectErr(await thread.submitApproval(token, { ...signed, ...changes }, origin)).kind;
    expect(await submit({ fid: 4 })).toBe("badRequest");
    expect(await submit({ nonce: 2 })).toBe("badRequest");
    expect(await submit({ deadline: signed.deadline + 1 })).toBe("badRequest");
    expect(await submit({ requestSignature: undefined })).toBe("badRequest");
    expect(await submit({ requestSignature: signed.custodySignature })).toBe("badRequest");
    expect(await submit({ custodySignature: signTypedData(keyAdd, custodyOf(4)) })).toBe("badRequest");
    expect(await submit({ fid: 999 })).toBe("notFound");
    expect(expectErr(await thread.submitApproval("1".repeat(32), signed, origin)).kind).toBe("gone");
    clock.advanceSecs(3601);
    expect(expectErr(await thread.submitApproval(token, signed, origin)).kind).toBe("gone");
    expect(fixture.submitted).toEqual([]);
    expect(await statusOf(fixture, signer.signerUuid)).toEqual(["generated", null]);
  });

  test("a used nonce is a conflict, and preparing again succeeds", async () => {
    using fixture = openSigners();
    const { token } = await pendingToken(fixture);
    const { thread, node } = fixture;
    const { keyAdd, keyRequest } = expectOk(await fixture.approvals.prepare(token, custodyOf(9).address));
    const other = gaslessKeyMessage({
      fid: 9,
      signer: makeSigner("other"),
      requestFid: 4,
      ttlSecs: 60,
      nonce: 1,
    });
    expect(node.ingestMessage(other)).toBe("ok");
    const late = {
      fid: 9,
      nonce: keyAdd.message.nonce,
      deadline: Number(keyAdd.message.deadline),
      custodySignature: signTypedData(keyAdd, custodyOf(9)),
      requestSignature: keyRequest ? signTypedData(keyRequest, custodyOf(9)) : undefined,
    };
    expect(expectErr(await thread.submitApproval(token, late, origin)).kind).toBe("conflict");
    expect(expectOk(await approve(fixture, token, 9))).toMatchObject({ status: "approved", fid: 9 });
  });

  test("a wallet without an fid cannot approve, and a link is tried ten times a minute", async () => {
    using fixture = openSigners();
    const { token } = await pendingToken(fixture);
    const stranger = makeWallet("nobody").address;
    const kinds: string[] = [];
    for (let n = 0; n < 11; n++) kinds.push(expectErr(await fixture.approvals.prepare(token, stranger)).kind);
    expect(kinds).toEqual([...Array(10).fill("notFound"), "tooManyRequests"]);
    // The wall clock does not count: it may be set back.
    fixture.clock.advanceSecs(-300);
    fixture.monotonic.nowMs += 60_000;
    expectOk(await fixture.approvals.prepare(token, custodyOf(9).address));
  });

  test("a key on chain that the registered app requested approves; its removal revokes", async () => {
    using fixture = openSigners();
    const { signer } = await pendingToken(fixture);
    const { node } = fixture;
    expect(node.ingestEvent(chainAdd(9, signer.publicKey))).toBe("ok");
    expect(await statusOf(fixture, signer.signerUuid)).toEqual(["approved", 9]);
    node.ingestEvent(signerEvent(9, signer.publicKey, { block: 2_000_001 }, "remove"));
    expect(await statusOf(fixture, signer.signerUuid)).toEqual(["revoked", 9]);
    const signing = await fixture.signing.find({ signerUuid: signer.signerUuid, ownerFid: OWNER, ...origin });
    expect(expectErr(signing)).toBe("not-approved");
  });

  test("a key that a user adds on chain at their own request approves a signer that no app was registered for", async () => {
    using fixture = openSigners();
    const { node } = fixture;
    const { signerUuid, publicKey } = await createSigner(fixture);
    // At the request of another fid it is anybody's.
    node.ingestEvent(chainAdd(4, publicKey, 9));
    node.ingestEvent(chainAdd(5, publicKey, 0, 2_000_001));
    expect(await statusOf(fixture, signerUuid)).toEqual(["generated", null]);
    node.ingestEvent(chainAdd(9, publicKey, 9, 2_000_002));
    expect(await statusOf(fixture, signerUuid)).toEqual(["approved", 9]);
    const actor = { signerUuid, ownerFid: OWNER, ...origin };
    expect(expectOk(await fixture.signing.find(actor)).fid).toBe(9);
    node.ingestEvent(chainAdd(4, publicKey, 4, 2_000_003));
    expect(await statusOf(fixture, signerUuid)).toEqual(["approved", 9]);
    node.ingestEvent(signerEvent(9, publicKey, { block: 2_000_004 }, "remove"));
    expect(await statusOf(fixture, signerUuid)).toEqual(["revoked", 9]);
  });

  test("a signer whose key is on chain at its user's own request is not registered for an app any more", async () => {
    using fixture = openSigners();
    const signer = await createSigner(fixture);
    fixture.node.ingestEvent(chainAdd(9, signer.publicKey, 9));
    expect(expectErr(await register(fixture, signer)).kind).toBe("conflict");
    expect(await statusOf(fixture, signer.signerUuid)).toEqual(["approved", 9]);
  });

  test("a stranger's gasless key approves nothing before the registration, and no stranger's key after it", async () => {
    using fixture = openSigners();
    const { node } = fixture;
    const signer = await createSigner(fixture);
    const key = { ...makeSigner("x"), publicKey: signer.publicKey };
    const terms = { fid: 9, signer: key, requestFid: 9, ttlSecs: 86_400, nonce: 1 };
    expect(node.ingestMessage(gaslessKeyMessage({ ...terms, envelope: makeSigner("x") }))).toBe("ok");
    expect(await statusOf(fixture, signer.signerUuid)).toEqual(["generated", null]);
    expectOk(await register(fixture, signer));
    node.ingestEvent(chainAdd(4, signer.publicKey, 4));
    expect(await statusOf(fixture, signer.signerUuid)).toEqual(["pending_approval", null]);
    fixture.clock.advanceSecs(3601);
    expect(await statusOf(fixture, signer.signerUuid)).toEqual(["generated", null]);
  });

  test("no user is asked to sign for a key that the network would refuse", async () => {
    using fixture = openSigners();
    const { node } = fixture;
    const { signer, token } = await pendingToken(fixture);
    const onChain = await pendingToken(fixture);
    const key = { ...makeSigner("x"), publicKey: signer.publicKey };
    const terms = { fid: 4, signer: key, requestFid: 4, ttlSecs: 86_400, nonce: 1 };
    expect(node.ingestMessage(gaslessKeyMessage({ ...terms, envelope: makeSigner("x") }))).toBe("ok");
    expect(node.ingestEvent(chainAdd(9, onChain.signer.publicKey, 4))).toBe("ok");
    for (const one of [token, onChain.token]) {
      const refused = expectErr(await fixture.approvals.prepare(one, custodyOf(9).address));
      expect(refused).toMatchObject({ kind: "conflict", message: expect.stringContaining("a new signer") });
    }
    expect(await statusOf(fixture, signer.signerUuid)).toEqual(["pending_approval", null]);
  });

  test("a link that a user approves through another node is for this user, before the key is seen", async () => {
    using fixture = openSigners();
    const { stores } = fixture;
    const { signer, token } = await pendingToken(fixture);
    const { tokenDigest } = (await stores.signers.find(signer.signerUuid))?.request ?? {};
    expect(
      await stores.signers.submitting(signer.signerUuid, tokenDigest ?? new Uint8Array(), {
        fid: 4,
        requestFid: 4,
      }),
    ).toBe(true);
    const refused = expectErr(await fixture.approvals.prepare(token, custodyOf(9).address));
    expect(refused).toMatchObject({ kind: "conflict", message: expect.stringContaining("for fid 4") });
    expect(expectOk(await fixture.approvals.prepare(token, custodyOf(4).address)).fid).toBe(4);
  });

  test("a signer that may write is found after any number of revoked ones", async () => {
    using fixture = openSigners({ maxSigners: 200 });
    const { service, stores, clock } = fixture;
    const at = nowSecs(clock);
    const approval = { fid: 9, at, by: "import" as const, blocks: null };
    const entry = {
      ...origin,
      atMs: 0,
      ownerFid: OWNER,
      action: "signer.import",
      apiKeyId: null,
      userFid: 9,
    };
    for (let n = 0; n < 120; n++) {
      const signerUuid = crypto.randomUUID();
      const key = {
        publicKey: makeSigner(`revoked ${n}`).publicKey,
        sealed: new Uint8Array(60),
        keyId: "00",
      };
      const times = { createdAt: at, updatedAt: at, approval, request: null, submitted: null };
      const signer = { signerUuid, ownerFid: OWNER, ...key, permissions: ALL, ...times };
      const audit = { ...entry, signerUuid, hash: null, outcome: "ok" };
      expect(await stores.signers.create(signer, 200, audit)).toBe("created");
    }
    expect(await service.findWriter(actor(), 9, MessageType.MESSAGE_TYPE_LINK_ADD)).toBeUndefined();
    const { signer, token } = await pendingToken(fixture);
    expectOk(await approve(fixture, token, 9));
    const found = await service.findWriter(actor(), 9, MessageType.MESSAGE_TYPE_LINK_ADD);
    expect(found?.signer.signerUuid).toBe(signer.signerUuid);
    expect(await service.findWriter(actor(), 9, MessageType.MESSAGE_TYPE_KEY_ADD)).toBeUndefined();
    expect(await service.findWriter(actor(4), 9, MessageType.MESSAGE_TYPE_LINK_ADD)).toBeUndefined();
  });

  test("the audit log of the actor shows which actions were refused, and why", async () => {
    using fixture = openSigners({ maxSigners: 1, export: false });
    const { service, stores } = fixture;
    const signer = await createSigner(fixture);
    expectErr(await service.create(actor(), ALL));
    expectErr(await register(fixture, signer, { wallet: custodyOf(9) }));
    expectErr(await register(fixture, { ...signer, ownerFid: 4 }));
    expectErr(await service.keys.importSigner(actor(), new Uint8Array(32).fill(7), 9));
    expectErr(await service.keys.deleteSigner(actor(4), signer.signerUuid));
    // What the operator has turned off is not an attempt.
    expectErr(await service.keys.exportSigner(actor(), signer.signerUuid));
    const page = { limit: 10, before: undefined };
    const logOf = async (ownerFid: number) =>
      (await stores.audit.list(ownerFid, page)).map(({ action, outcome }) => `${action} ${outcome}`);
    expect(await logOf(OWNER)).toEqual([
      "signer.import bad_request",
      "signer.request forbidden",
      "signer.create too_many_requests",
      "signer.create ok",
    ]);
    expect(await logOf(4)).toEqual(["signer.delete unknown_signer", "signer.request unknown_signer"]);
  });

  test("the first user of a signer remains its user", async () => {
    using fixture = openSigners();
    const { signer } = await pendingToken(fixture);
    const { node } = fixture;
    node.ingestEvent(chainAdd(9, signer.publicKey));
    expect(await statusOf(fixture, signer.signerUuid)).toEqual(["approved", 9]);
    node.ingestEvent(chainAdd(4, signer.publicKey, APP, 2_000_001));
    expect(await statusOf(fixture, signer.signerUuid)).toEqual(["approved", 9]);
    node.ingestEvent(signerEvent(9, signer.publicKey, { block: 2_000_002 }, "remove"));
    expect(await statusOf(fixture, signer.signerUuid)).toEqual(["revoked", 9]);
    const again = expectOk(await register(fixture, signer));
    const token = again.approvalUrl?.split("/").at(-1) ?? "";
    expect(expectErr(await fixture.approvals.prepare(token, custodyOf(4).address)).kind).toBe("conflict");
    expectOk(await approve(fixture, token, 9));
    expect(await statusOf(fixture, signer.signerUuid)).toEqual(["approved", 9]);
  });

  test("an unused key is revoked after its time, and can be approved again", async () => {
    using fixture = openSigners();
    const { signer, token } = await pendingToken(fixture);
    expectOk(await approve(fixture, token, 9));
    expect(expectErr(await register(fixture, signer)).kind).toBe("conflict");
    fixture.clock.advanceSecs(86_401);
    expect(await statusOf(fixture, signer.signerUuid)).toEqual(["revoked", 9]);
    const again = expectOk(await register(fixture, signer));
    expect(again.state.status).toBe("pending_approval");
    expectOk(await approve(fixture, again.approvalUrl?.split("/").at(-1) ?? "", 9));
    expect(await statusOf(fixture, signer.signerUuid)).toEqual(["approved", 9]);
  });

  test("a user who signs in gets the owner's signers of theirs, once for each nonce", async () => {
    using fixture = openSigners();
    const { service, node, clock } = fixture;
    const own = await pendingToken(fixture);
    expectOk(await approve(fixture, own.token, 9));
    const unseen = await pendingToken(fixture);
    node.ingestEvent(chainAdd(9, unseen.signer.publicKey));
    const other = await pendingToken(fixture);
    node.ingestEvent(chainAdd(4, other.signer.publicKey));
    await createSigner(fixture);
    const nonce = await service.issueNonce();
    expect(nonce).toMatch(/^[a-zA-Z0-9]{32}$/);
    const wallet = custodyOf(9);
    const message = (text: string) =>
      createSiweMessage({
        address: getAddress(toHex(wallet.address)),
        chainId: 10,
        domain: "app.example",
        uri: "https://app.example",
        version: "1",
        nonce: text,
        issuedAt: new Date(clock.nowMs()),
      });
    const signIn = (text: string, by = wallet) => ({
      message: message(text),
      signature: signDigest(fromHex(hashMessage(message(text))), by),
    });
    // A nonce counts once, also with the signature of another wallet.
    const stolen = signIn(await service.issueNonce(), custodyOf(4));
    expect(expectErr(await service.listOfSignIn(actor(), stolen)).kind).toBe("unauthorized");
    const listed = expectOk(await service.listOfSignIn(actor(), signIn(nonce)));
    expect(listed.map(({ signer }) => signer.signerUuid)).toEqual([
      own.signer.signerUuid,
      unseen.signer.signerUuid,
    ]);
    expect(expectErr(await service.listOfSignIn(actor(), signIn(nonce))).kind).toBe("unauthorized");
    expect(expectErr(await service.listOfSignIn(actor(), signIn("never1ssued2nonce3"))).kind).toBe(
      "unauthorized",
    );
    const next = await service.issueNonce();
    expect(expectOk(await service.listOfSignIn(actor(4), signIn(next)))).toEqual([]);
    const old = await service.issueNonce();
    clock.advanceSecs(601);
    expect(expectErr(await service.listOfSignIn(actor(), signIn(old))).kind).toBe("unauthorized");
  });

  test("keys are exported to their owner, imported while active, and remove themselves when deleted", async () => {
    using fixture = openSigners();
    const { thread, node, stores } = fixture;
    const { signer, token } = await pendingToken(fixture);
    expectOk(await approve(fixture, token, 9));
    expect(expectErr(await thread.exportSigner(actor(4), signer.signerUuid)).kind).toBe("notFound");
    const exported = expectOk(await thread.exportSigner(actor(), signer.signerUuid));
    expect(exported).toMatchObject({ fid: 9, publicKey: signer.publicKey });

    const cast = await makeCastAdd(
      {
        text: "by the exported key",
        embeds: [],
        embedsDeprecated: [],
        mentions: [],
        mentionsPositions: [],
        type: 0,
      },
      { fid: 9, network: 1, timestamp: getFarcasterTime()._unsafeUnwrap() },
      new NobleEd25519Signer(exported.seed),
    );
    expect(cast._unsafeUnwrap().signer).toEqual(signer.publicKey);

    const again = await thread.importSigner(actor(), exported.seed.slice(), 9);
    expect(expectErr(again).kind).toBe("conflict");
    const deleted = expectOk(await thread.deleteSigner(actor(), signer.signerUuid));
    expect(deleted.removal).toEqual(fixture.submitted.at(-1)?.hash ?? null);
    expect(node.db.sqlite.query("SELECT count(*) AS n FROM gasless_keys").get()).toEqual({ n: 0 });
    expect(expectErr(await thread.deleteSigner(actor(), signer.signerUuid)).kind).toBe("notFound");
    expect(expectErr(await thread.importSigner(actor(), exported.seed.slice(), 9)).kind).toBe("badRequest");

    node.ingestEvent(chainAdd(9, signer.publicKey));
    const imported = expectOk(await thread.importSigner(actor(), exported.seed.slice(), 9));
    expect(await statusOf(fixture, imported.signerUuid)).toEqual(["approved", 9]);
    // The user may erase the app's copy of their key; one on chain stays there.
    expect(expectErr(await thread.deleteSigner(actor(4), imported.signerUuid)).kind).toBe("notFound");
    expect(expectOk(await thread.deleteSigner(actor(9), imported.signerUuid))).toEqual({ removal: null });
    const actions = (await stores.audit.list(OWNER, { limit: 20, before: undefined })).map(
      ({ action, outcome }) => `${action} ${outcome}`,
    );
    expect(actions.toReversed()).toEqual([
      "signer.create ok",
      "signer.request ok",
      "signer.approve ok",
      "signer.export ok",
      "signer.import conflict",
      "signer.delete ok",
      "signer.delete unknown_signer",
      "signer.import bad_request",
      "signer.import ok",
      "signer.delete ok",
    ]);
  });

  test("keys of one app that remove themselves at once take different nonces", async () => {
    using fixture = openSigners();
    const tokens = [];
    for (let n = 0; n < 3; n++) tokens.push(await pendingToken(fixture, { gasless: true }));
    for (const { token } of tokens) expectOk(await approve(fixture, token, 9));
    const deleted = await Promise.all(
      tokens.map(({ signer }) => fixture.thread.deleteSigner(actor(), signer.signerUuid)),
    );
    expect(deleted.every(({ ok }) => ok)).toBe(true);
    expect(fixture.node.db.sqlite.query("SELECT count(*) AS n FROM gasless_keys").get()).toEqual({ n: 0 });
  });

  test("an app whose custody moved must ask again", async () => {
    using fixture = openSigners();
    const { signer, token } = await pendingToken(fixture, { gasless: true });
    const buyer = makeWallet("buyer");
    fixture.node.ingestEvent(transferEvent(APP, custodyOf(APP).address, buyer.address, { block: 3_000_000 }));
    expect(expectErr(await approve(fixture, token, 9)).kind).toBe("conflict");
    expectOk(await register(fixture, signer, { gasless: true, wallet: buyer }));
  });

  test("a request under one domain does not count under the other", () => {
    const key = makeSigner("k").publicKey;
    const request = { requestFid: APP, key, deadline: 5 };
    const signature = signTypedData(requestData(CHAIN_REQUEST_DOMAIN, APP, key, 5), custodyOf(APP));
    expect(recoverKeyRequest("chain", request, signature)).toEqual(custodyOf(APP).address);
    expect(recoverKeyRequest("gasless", request, signature)).not.toEqual(custodyOf(APP).address);
  });
});

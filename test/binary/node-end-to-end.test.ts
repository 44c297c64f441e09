import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  CastType,
  type FarcasterNetwork,
  getAdminRpcClient,
  getInsecureHubRpcClient,
  type HubRpcClient,
  type Message,
  makeCastAdd,
  makeCastRemove,
  makeReactionAdd,
  makeUserDataAdd,
  NobleEd25519Signer,
  OnChainEvent,
  ReactionType,
  UserDataType,
  UserNameProof,
} from "@farcaster/hub-nodejs";
import { UserNameProof as OurProof } from "../../src/protocol/wire/generated/message.ts";
import { OnChainEvent as OurOnChainEvent } from "../../src/protocol/wire/generated/on-chain.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { fnameProof, registerEvent, rentEvent, signerEvent } from "../support/events.ts";
import { makeSigner, makeWallet } from "../support/messages.ts";
import { type RunningNode, startNode, tempDir } from "../support/program.ts";

const NETWORK = 1 as FarcasterNetwork;
const FID = 4242;
const OTHER = 4243;
const dir = tempDir();
let node: RunningNode;
let hub: HubRpcClient;
let admin: Awaited<ReturnType<typeof getAdminRpcClient>>;

beforeAll(async () => {
  node = await startNode({
    command: compiledProgram,
    dataDir: `${dir.path}/data`,
    args: ["--set", "hub.admin=true"],
  });
  hub = getInsecureHubRpcClient(node.hubAddress);
  admin = await getAdminRpcClient(node.hubAddress);
}, 180_000);

afterAll(async () => {
  hub.$.close();
  admin.close();
  await node.stop();
  dir[Symbol.dispose]();
});

const nowSecs = Math.floor(Date.now() / 1000);

/** The official client's own encoding of an event that the test builds. */
function theirs(event: OurOnChainEvent): OnChainEvent {
  return OnChainEvent.decode(OurOnChainEvent.encode(event).finish());
}

async function read(path: string): Promise<{ status: number; body: Record<string, never> }> {
  const response = await fetch(`${node.url}/v2/svc${path}`);
  return { status: response.status, body: (await response.json()) as Record<string, never> };
}

function hex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString("hex")}`;
}

function signerOf(fid: number): NobleEd25519Signer {
  return new NobleEd25519Signer(makeSigner(`binary ${fid}`).privateKey);
}

async function submit(message: Message): Promise<Message> {
  const result = await hub.submitMessage(message);
  if (result.isErr()) throw result.error;
  return result.value;
}

async function registerAccount(fid: number, name: string): Promise<void> {
  const custody = makeWallet(`binary ${fid}`).address;
  const at = nowSecs - 86_400;
  for (const event of [
    registerEvent(fid, custody, { block: 1, at }),
    signerEvent(fid, makeSigner(`binary ${fid}`).publicKey, { block: 2, at }),
    rentEvent(fid, 1, { block: 3, at }),
  ]) {
    const result = await admin.submitOnChainEvent(theirs(event));
    expect(result.isOk()).toBe(true);
  }
  const proof = UserNameProof.decode(OurProof.encode(fnameProof(name, fid, custody, at)).finish());
  expect((await admin.submitUserNameProof(proof)).isOk()).toBe(true);
}

test("reads of the binary return what the official client submits, without what it removes", async () => {
  await registerAccount(FID, "alice");
  await registerAccount(OTHER, "bob");

  const options = { fid: FID, network: NETWORK };
  const otherOptions = { fid: OTHER, network: NETWORK };
  for (const [type, value] of [
    [UserDataType.USERNAME, "alice"],
    [UserDataType.DISPLAY, "Alice of the test"],
    [UserDataType.BIO, "I exist"],
    [UserDataType.PFP, "https://pfp.example/1.png"],
  ] as const) {
    await submit((await makeUserDataAdd({ type, value }, options, signerOf(FID)))._unsafeUnwrap());
  }
  const user = await read(`/user?fid=${FID}`);
  expect(user.body.user).toMatchObject({
    object: "user",
    fid: FID,
    username: "alice",
    display_name: "Alice of the test",
    pfp_url: "https://pfp.example/1.png",
    custody_address: hex(makeWallet(`binary ${FID}`).address),
    profile: { bio: { text: "I exist" } },
    registered_at: nowSecs - 86_400,
  });
  expect((await read("/user/by-username?username=alice")).body).toEqual(user.body);

  const castBody = {
    text: "hello ",
    mentions: [OTHER],
    mentionsPositions: [6],
    embeds: [{ url: "https://embed.example" }],
    embedsDeprecated: [],
    parentUrl: "https://farcaster.xyz/~/channel/tests",
    type: CastType.CAST,
  };
  const cast = await submit((await makeCastAdd(castBody, options, signerOf(FID)))._unsafeUnwrap());
  const replyBody = {
    text: "a reply",
    mentions: [],
    mentionsPositions: [],
    embeds: [],
    embedsDeprecated: [],
    parentCastId: { fid: FID, hash: cast.hash },
    type: CastType.CAST,
  };
  const reply = await submit((await makeCastAdd(replyBody, otherOptions, signerOf(OTHER)))._unsafeUnwrap());
  const likeBody = { type: ReactionType.LIKE, targetCastId: { fid: FID, hash: cast.hash } };
  await submit((await makeReactionAdd(likeBody, otherOptions, signerOf(OTHER)))._unsafeUnwrap());

  const shown = await read(`/cast?identifier=${hex(cast.hash)}`);
  expect(shown.body.cast).toMatchObject({
    hash: hex(cast.hash),
    text: "hello @!4243",
    mentioned_profiles_ranges: [{ start: 6, end: 12 }],
    reactions: { likes_count: 1, recasts_count: 0 },
    replies: { count: 1 },
    channel: { id: "tests" },
  });
  expect((await read(`/cast?identifier=${hex(reply.hash)}`)).body.cast).toMatchObject({
    type: "cast-reply",
    parent_hash: hex(cast.hash),
    thread_hash: hex(cast.hash),
    root_parent_url: "https://farcaster.xyz/~/channel/tests",
    author: { username: "!4243" },
  });
  expect((await read(`/feed/user/casts?fid=${FID}`)).body.casts).toHaveLength(1);

  await submit((await makeCastRemove({ targetHash: cast.hash }, options, signerOf(FID)))._unsafeUnwrap());
  expect((await read(`/cast?identifier=${hex(cast.hash)}`)).status).toBe(404);
  expect((await read(`/feed/user/casts?fid=${FID}`)).body).toEqual({
    casts: [],
    next: { cursor: null },
  } as never);
}, 180_000);

test("the official client receives the code of a refusal", async () => {
  const stranger = (
    await makeUserDataAdd({ type: UserDataType.BIO, value: "x" }, { fid: 9, network: NETWORK }, signerOf(9))
  )._unsafeUnwrap();
  const refused = await hub.submitMessage(stranger);
  expect(refused._unsafeUnwrapErr().errCode).toBe("bad_request.validation_failure");
});

test("the official client reads the node's info", async () => {
  const info = (await hub.getInfo({}))._unsafeUnwrap();
  expect(info.numShards).toBe(1);
  expect(info.dbStats?.numFidRegistrations).toBe(2);
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { ethereumClaimSignature } from "../../src/demo/claims.ts";
import { createKeyring } from "../../src/demo/keys.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { activateChannels, registers, walletOf } from "../support/channel-records.ts";
import { gaslessKeyMessage } from "../support/gasless-keys.ts";
import { DEFAULT_TIMESTAMP, makeSigner } from "../support/messages.ts";
import { accountRecords } from "../support/node.ts";
import { startSignedApi } from "../support/signed-api.ts";

/** The owner of a signer, its user, and a user without one. */
const [APP, USER, OTHER] = [3, 71, 72];
const KEY = "books";

const signed = await startSignedApi({
  settings: [`signers.encryption_key=${"5a".repeat(32)}`],
  fids: [APP, USER, OTHER],
});
const { node, url } = signed.api;
afterAll(() => signed[Symbol.asyncDispose]());

beforeAll(async () => {
  activateChannels(node.db);
  node.ingestAll([...accountRecords(USER), ...accountRecords(OTHER), registers(KEY, walletOf(USER))]);
  const gasless = makeSigner("gasless");
  const key = { fid: USER, signer: gasless, requestFid: APP, ttlSecs: 86_400, nonce: 1, scopes: [3, 4, 7] };
  expect(node.ingestMessage(gaslessKeyMessage({ ...key, at: DEFAULT_TIMESTAMP }))).toBe("ok");
  const private_key = `0x${Buffer.from(gasless.privateKey).toString("hex")}`;
  const body = { private_key, fid: USER };
  expect((await signed.call({ method: "POST", path: "/managed_signer/import", body, fid: APP })).status).toBe(
    200,
  );
});

const follow = (fid: number, following: boolean, channel_id = KEY) =>
  signed.call({ method: "PUT", path: "/user/channel/follow", body: { channel_id, following }, fid });
interface ChannelBody {
  readonly channel: { readonly follower_count: number };
}
const channel = async () =>
  ((await (await fetch(`${url}/v2/svc/channel?id=${KEY}`)).json()) as ChannelBody).channel;

test("a user follows a channel with a signer of an app, and unfollows it", async () => {
  const { status, body } = await follow(USER, true);
  expect({ status, state: body.state }).toEqual({ status: 200, state: "merged" });
  expect((await channel()).follower_count).toBe(1);
  expect((await follow(USER, true)).body.state).toBe("unchanged");
  expect((await follow(USER, false)).body.state).toBe("merged");
  expect((await channel()).follower_count).toBe(0);
});

test("following is refused without a signer of the user, and for an unknown channel", async () => {
  const { status, body } = await follow(OTHER, true);
  expect({ status, message: body.message }).toEqual({
    status: 409,
    message: expect.stringContaining("no managed signer"),
  });
  // The owner of the signer is not its user.
  expect((await follow(APP, true)).status).toBe(409);
  expect((await follow(USER, true, "nowhere")).status).toBe(404);
  expect((await follow(USER, true, "x".repeat(3000))).status).toBe(400);
});

test("a verification of the owner's address ends the parking of the channel; another's claim is refused", async () => {
  expect(await channel()).toMatchObject({ owner: { fid: null, state: "unverified" }, lead: null });
  const blockHash = new Uint8Array(32).fill(9);
  const network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
  const wallet = createKeyring().verifiedWallet(USER, 0);
  const verify = (claimOf: number) => {
    const signature = ethereumClaimSignature({ fid: claimOf, blockHash, network }, wallet);
    const body = {
      address: `0x${Buffer.from(wallet.address).toString("hex")}`,
      block_hash: `0x${blockHash.toHex()}`,
      eth_signature: `0x${Buffer.from(signature).toString("hex")}`,
    };
    return signed.call({ method: "POST", path: "/user/address/verify", body, fid: USER });
  };
  expect((await verify(OTHER)).status).toBe(400);
  expect(await channel()).toMatchObject({ owner: { fid: null } });
  const { status, body } = await verify(USER);
  expect({ status, state: body.state }).toEqual({ status: 200, state: "merged" });
  expect(await channel()).toMatchObject({ owner: { fid: USER, state: "verified" }, lead: { fid: USER } });
});

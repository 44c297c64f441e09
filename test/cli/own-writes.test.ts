import { afterAll, beforeAll, expect, test } from "bun:test";
import { ethereumClaimSignature } from "../../src/demo/claims.ts";
import { createKeyring, demoKeys } from "../../src/demo/keys.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { type ManagementNode, startManagementNode, writeKeyFile } from "./management-node.ts";
import { emptyDir } from "./run.ts";

/** A user with a signer that the node keeps. */
const USER = 3;

let node: ManagementNode;
const dir = emptyDir();
beforeAll(async () => {
  node = await startManagementNode([`signers.encryption_key=${"5a".repeat(32)}`]);
  const seed = writeKeyFile(dir.path, "seed", `${demoKeys(USER)?.signers[0]?.privateKey}\n`);
  const signer = ["signer", "import", "--user", `${USER}`, "--seed-file", seed];
  await node.json(USER, signer);
}, 180_000);
afterAll(async () => {
  await node[Symbol.asyncDispose]();
  dir[Symbol.dispose]();
});

test("a user follows a channel and unfollows it", async () => {
  const follow = (...flags: string[]) => node.json(USER, ["channel", "follow", "bread-club", ...flags]);
  await follow("--no-following");
  const replies = [await follow(), await follow("--following"), await follow("--no-following")];
  expect(replies.map((reply) => String(reply.state))).toEqual(["merged", "unchanged", "merged"]);
  const unknown = await node.as(USER, ["channel", "follow", "nowhere"]);
  expect(unknown.exitCode).not.toBe(0);
  expect(unknown.errors).toContain("no registered channel has this name");
});

test("a user verifies an address by the address's signature of the claim", async () => {
  const wallet = createKeyring().verifiedWallet(USER, 7);
  const blockHash = new Uint8Array(32).fill(7);
  const signature = ethereumClaimSignature(
    { fid: USER, blockHash, network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET },
    wallet,
  );
  const hex = (bytes: Uint8Array) => `0x${bytes.toHex()}`;
  const verify = ["address", "verify", hex(wallet.address), "--block-hash", hex(blockHash)];
  const without = await node.as(USER, verify);
  expect(without.exitCode).not.toBe(0);
  expect(without.errors).toContain("--eth-signature");
  const reply = await node.json(USER, [...verify, "--eth-signature", hex(signature)]);
  expect(String(reply.state)).toBe("merged");
});

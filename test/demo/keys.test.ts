import { describe, expect, test } from "bun:test";
import { eip712, NobleEd25519Signer, verifyKeyRequest } from "@farcaster/core";
import { decodeAbiParameters, hexToBytes } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { createKeyring, demoKeys } from "../../src/demo/keys.ts";
import { clientFidsOf } from "../../src/demo/roster.ts";
import { SignerEventType } from "../../src/protocol/wire/generated/on-chain.ts";
import { hex, readNetwork } from "./records.ts";

const { events, messages, proofs } = readNetwork();

describe("demo keys", () => {
  test("are the custody and signer keys of the chain events", () => {
    for (let fid = 1; fid <= 200; fid++) {
      const keys = demoKeys(fid);
      expect(keys?.custody.address).toBe(`0x${custodyOnChain(fid)}`);
      expect(keys?.signers.map((signer) => signer.publicKey.slice(2)).sort()).toEqual(signersOnChain(fid));
      expect(keys?.signers.map((signer) => signer.clientFid)).toEqual([...clientFidsOf(fid)]);
      expect(keys?.authAddress?.address.slice(2)).toBe(authAddressOnChain(fid));
    }
  });

  test("have addresses and public keys that other libraries derive from the private keys", async () => {
    for (const fid of [1, 2, 3, 17, 24, 43, 88, 200]) {
      const keys = demoKeys(fid);
      if (!keys) throw new Error(`no keys for ${fid}`);
      const account = privateKeyToAccount(keys.custody.privateKey);
      expect(account.address.toLowerCase()).toBe(keys.custody.address);
      for (const signer of keys.signers) {
        const key = await new NobleEd25519Signer(hexToBytes(signer.privateKey)).getSignerKey();
        expect(hex(key._unsafeUnwrap())).toBe(signer.publicKey.slice(2));
      }
    }
  });

  test("exist only for users of the demo network", () => {
    for (const fid of [0, 201, -1, 1.5, Number.NaN, 2 ** 32 + 3]) expect(demoKeys(fid)).toBeUndefined();
  });

  test("signed every message of their fid, with both clients' keys where there are two", () => {
    const used = new Map<number, Set<string>>();
    for (const { data, wire } of messages) {
      used.set(data.fid, (used.get(data.fid) ?? new Set()).add(hex(wire.signer)));
    }
    for (const [fid, keys] of used) expect([...keys].sort()).toEqual(signersOnChain(fid));
    expect([...used.values()].filter((keys) => keys.size === 2).length).toBe(4);
  });
});

describe("signatures other than those of messages", () => {
  test("a signer's metadata is a key request that the client app's custody signed", async () => {
    const adds = events.flatMap(({ fid, body }) =>
      body?.$case === "signerEventBody" && body.value.eventType === SignerEventType.SIGNER_EVENT_TYPE_ADD
        ? [{ fid, ...body.value }]
        : [],
    );
    const requestFids = new Set<bigint>();
    for (const [index, add] of adds.entries()) {
      const [request] = decodeAbiParameters(
        [
          {
            type: "tuple",
            components: [
              { name: "requestFid", type: "uint256" },
              { name: "requestSigner", type: "address" },
              { name: "signature", type: "bytes" },
              { name: "deadline", type: "uint256" },
            ],
          },
        ],
        `0x${hex(add.metadata)}`,
      );
      requestFids.add(request.requestFid);
      expect(request.requestSigner.toLowerCase()).toBe(`0x${custodyOnChain(Number(request.requestFid))}`);
      // Recovery is slow in the reference library, so only some are checked.
      if (index % 12 !== 0) continue;
      const verified = await verifyKeyRequest(
        { requestFid: request.requestFid, key: add.key, deadline: request.deadline },
        hexToBytes(request.signature),
        hexToBytes(request.requestSigner),
      );
      expect(verified._unsafeUnwrap()).toBe(true);
    }
    expect([...requestFids].sort()).toEqual([1n, 2n]);
  });

  test("fname proofs are signed by the name server for the present custody address", async () => {
    const nameServer = createKeyring().nameServer().address;
    for (const [index, proof] of proofs.entries()) {
      if (proof.fid > 0) expect(custodyOnChain(proof.fid)).toBe(hex(proof.owner));
      if (index % 20 !== 0) continue;
      const verified = await eip712.verifyUserNameProofClaim(
        {
          name: Buffer.from(proof.name).toString(),
          timestamp: BigInt(proof.timestamp),
          owner: `0x${hex(proof.owner)}`,
        },
        proof.signature,
        nameServer,
      );
      expect(verified._unsafeUnwrap()).toBe(true);
    }
  });
});

function authAddressOnChain(fid: number): string | undefined {
  const [added] = events.flatMap((event) =>
    event.fid === fid && event.body?.$case === "signerEventBody" && event.body.value.keyType === 2
      ? [hex(event.body.value.key)]
      : [],
  );
  // A key of 32 bytes, with the address at its end, or the address.
  return added?.slice(-40);
}

function custodyOnChain(fid: number): string | undefined {
  const tos = events.flatMap((event) =>
    event.fid === fid && event.body?.$case === "idRegisterEventBody" && event.body.value.to.length > 0
      ? [hex(event.body.value.to)]
      : [],
  );
  return tos.at(-1);
}

function signersOnChain(fid: number): string[] {
  const active = new Set<string>();
  for (const event of events) {
    if (event.fid !== fid || event.body?.$case !== "signerEventBody") continue;
    const { key, keyType, eventType } = event.body.value;
    if (eventType === SignerEventType.SIGNER_EVENT_TYPE_REMOVE) active.delete(hex(key));
    else if (keyType === 1) active.add(hex(key));
  }
  return [...active].sort();
}

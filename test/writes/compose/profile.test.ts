import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { validateUserData } from "../../../src/protocol/validate/user-data.ts";
import { UserDataType } from "../../../src/protocol/wire/generated/message.ts";
import { readTargetFids } from "../../../src/writes/compose/link.ts";
import { composeProfile, type ProfileLookups } from "../../../src/writes/compose/profile.ts";
import { composeVerification, composeVerificationRemove } from "../../../src/writes/compose/verification.ts";

const ADDRESS = "0x5AEDA56215b167893e80B4fE645BA6d5Bab767DE";
const lookups: ProfileLookups = {
  fidOfName: (name) => (name === "alice" ? 1 : 2),
  hasVerification: (address) => `0x${address.toHex()}` === ADDRESS.toLowerCase(),
  isPro: () => false,
};

function fieldsOf(request: Record<string, unknown>, found: ProfileLookups = lookups) {
  const result = composeProfile(found, 1, request);
  return result.ok
    ? result.value.map(({ type, value }) => [type as number, value])
    : `${result.error.kind}: ${result.error.message}`;
}

describe("a profile", () => {
  test("each given field makes a message, in the form of the protocol", () => {
    const request = {
      bio: "b",
      display_name: "d",
      pfp_url: "https://x.example/p.png",
      url: "",
      username: "alice",
      location: { latitude: -0.001, longitude: 13.405 },
      verified_accounts: { x: "AliceX", github: "Alice-1" },
      primary_eth_address: ADDRESS.toLowerCase(),
    };
    expect(fieldsOf(request)).toEqual([
      [UserDataType.USER_DATA_TYPE_PFP, "https://x.example/p.png"],
      [UserDataType.USER_DATA_TYPE_DISPLAY, "d"],
      [UserDataType.USER_DATA_TYPE_BIO, "b"],
      [UserDataType.USER_DATA_TYPE_URL, ""],
      [UserDataType.USER_DATA_TYPE_USERNAME, "alice"],
      [UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_ETHEREUM, ADDRESS],
      [UserDataType.USER_DATA_TYPE_TWITTER, "alicex"],
      [UserDataType.USER_DATA_TYPE_GITHUB, "Alice-1"],
      [UserDataType.USER_DATA_TYPE_LOCATION, "geo:0.00,13.40"],
    ]);
  });

  test.each([
    [{}, "badRequest: no field"],
    [{ bio: 1 }, "badRequest: bio"],
    [{ bio: "a\udc00" }, "badRequest: bio"],
    [{ bio: "ok", display_name: "x".repeat(33) }, "badRequest: display_name"],
    [{ username: "bob" }, "badRequest: username"],
    [{ username: "No" }, "badRequest: username"],
    [{ banner: "https://x.example" }, "forbidden: banner"],
    [{ verified_accounts: { github: "" } }, "badRequest: verified_accounts.github"],
    [{ verified_accounts: "x" }, "badRequest: verified_accounts"],
    [{ primary_eth_address: `0x${"11".repeat(20)}` }, "badRequest: primary_eth_address"],
    [{ primary_sol_address: "1".repeat(32) }, "badRequest: primary_sol_address"],
    [{ location: { latitude: 91, longitude: 0 } }, "badRequest: location"],
    [{ location: { latitude: 1 } }, "badRequest: location"],
    [{ location: "here" }, "badRequest: location"],
  ])("%j is refused as %s", (request, refusal) => {
    expect(fieldsOf(request)).toStartWith(refusal);
  });

  test("a Pro user may set a banner, and an empty text unsets what a name or an address is needed for", () => {
    expect(fieldsOf({ banner: "https://x.example" }, { ...lookups, isPro: () => true })).toHaveLength(1);
    expect(fieldsOf({ username: "", primary_eth_address: "", banner: "", location: "" })).toHaveLength(4);
  });

  test("every place on Earth has a valid form", () => {
    const degrees = (max: number) => fc.double({ min: -max, max, noNaN: true });
    fc.assert(
      fc.property(degrees(90), degrees(180), (latitude, longitude) => {
        const result = composeProfile(lookups, 1, { location: { latitude, longitude } });
        expect(result.ok && validateUserData(result.value[0] ?? { type: 0, value: "" })).toBeUndefined();
      }),
    );
  });
});

describe("verifications", () => {
  const request = {
    address: ADDRESS,
    block_hash: `0x${"0a".repeat(32)}`,
    eth_signature: `0x${"0b".repeat(65)}`,
  };

  test("a claim of a key has type 0 and chain 0 unless it says otherwise", () => {
    const result = composeVerification(request);
    expect(result.ok && result.value).toMatchObject({ verificationType: 0, chainId: 0 });
    const contract = composeVerification({ ...request, verification_type: 1, chain_id: 10 });
    expect(contract.ok && contract.value).toMatchObject({ verificationType: 1, chainId: 10 });
  });

  test.each([
    [{ address: "0x12" }, "address"],
    [{ block_hash: undefined }, "block_hash"],
    [{ eth_signature: "zz" }, "eth_signature"],
    [{ eth_signature: `0x${"00".repeat(2049)}` }, "eth_signature"],
    [{ verification_type: 2 }, "verification_type"],
    [{ chain_id: 137 }, "chain_id"],
  ])("%j is refused by its name", (change, name) => {
    const result = composeVerification({ ...request, ...change });
    expect(result.ok ? "" : result.error.message).toStartWith(name);
  });

  test("a removal needs only the address", () => {
    expect(composeVerificationRemove({ address: ADDRESS }).ok).toBe(true);
    expect(composeVerificationRemove({}).ok).toBe(false);
  });
});

describe("targets of follows", () => {
  test("are 1 to 100 fids, each once, in the order sent", () => {
    const result = readTargetFids([3, 1, 3, 2]);
    expect(result.ok && result.value).toEqual([3, 1, 2]);
    for (const bad of [[], Array(101).fill(1), [0], ["1"], [1.5], "1", undefined]) {
      expect(readTargetFids(bad).ok).toBe(false);
    }
  });
});

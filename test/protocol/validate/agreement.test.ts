import { describe, expect, test } from "bun:test";
import * as core from "@farcaster/core";
import fc from "fast-check";
import { validateCastAdd } from "../../../src/protocol/validate/cast.ts";
import { validateUserData } from "../../../src/protocol/validate/user-data.ts";
import { CastAddBody } from "../../../src/protocol/wire/generated/message.ts";
import { DEFAULT_TIMESTAMP } from "../../support/messages.ts";

describe("validation of bodies by @farcaster/core", () => {
  const url = fc.constantFrom("u", "u".repeat(256), "é".repeat(128), "u".repeat(257), "é".repeat(129), "");
  const castId = fc.record({
    fid: fc.nat(19),
    hash: fc.constantFrom(20, 20, 20, 20, 20, 20, 19).map((size) => new Uint8Array(size)),
  });
  const embed = fc.oneof(
    url.map((value) => ({ url: value })),
    castId.map((value) => ({ castId: value })),
  );
  const text = fc
    .constantFrom(
      ...([0, 1, 320, 321].map((size) => [0, size]) as [number, number][]),
      ...([320, 321, 1024, 1025].map((size) => [1, size]) as [number, number][]),
      ...([1024, 1025, 10_000, 10_001].map((size) => [2, size]) as [number, number][]),
      [3, 10] as [number, number],
    )
    .map(([type, size]) => ({
      type: type as core.CastType,
      text: "é".repeat(size / 2).padEnd(size - Math.floor(size / 2), "x"),
    }));
  const mentions = fc
    .tuple(fc.array(fc.tuple(fc.nat(19), fc.nat(2)), { maxLength: 2 }), fc.constantFrom([], [], [], [2]))
    .map(([pairs, extra]) => ({
      mentions: pairs.map(([fid]) => fid),
      mentionsPositions: [...pairs.map(([, position]) => position), ...extra],
    }));
  const body = fc.record({
    text,
    mentions,
    embeds: fc.oneof(fc.constant<core.Embed[]>([]), fc.array(embed, { maxLength: 5 })),
    parent: fc.option(fc.oneof(url, castId), { nil: undefined }),
  });

  test("agrees with ours for casts with random text, embeds, mentions and parents", () => {
    let accepted = 0;
    const ours = (value: core.CastAddBody) =>
      CastAddBody.decode(core.CastAddBody.encode(core.CastAddBody.fromPartial(value)).finish());
    fc.assert(
      fc.property(body, ({ parent, ...rest }) => {
        const value: core.CastAddBody = {
          ...rest.text,
          ...rest.mentions,
          embeds: rest.embeds,
          embedsDeprecated: [],
          parentUrl: typeof parent === "string" ? parent : undefined,
          parentCastId: typeof parent === "string" ? undefined : parent,
        };
        const isValid = core.validations.validateCastAddBody(value).isOk();
        if (isValid) accepted++;
        return (validateCastAdd(ours(value), DEFAULT_TIMESTAMP) === undefined) === isValid;
      }),
      { numRuns: 2000 },
    );
    expect(accepted).toBeGreaterThan(50);
  });

  test("agrees with ours for random user data of the types with the same rules", () => {
    const unit = fc.constantFrom(
      ..."ab-_.0:/,9".split(""),
      "geo:",
      ".eth",
      ".base.eth",
      "é",
      "eip155:1/erc721:0x1",
    );
    const value = fc.oneof(
      fc.string({ unit, maxLength: 6 }),
      fc.nat(300).map((length) => "x".repeat(length)),
      fc.string({ unit: "grapheme", maxLength: 12 }),
    );
    const differing = [
      core.UserDataType.GITHUB,
      core.UserDataType.USER_DATA_PRIMARY_ADDRESS_ETHEREUM,
      core.UserDataType.USER_DATA_PRIMARY_ADDRESS_SOLANA,
    ];
    const type = fc
      .nat(15)
      .filter((number) => !differing.includes(number)) as fc.Arbitrary<core.UserDataType>;
    fc.assert(
      fc.property(type, value, (number, text) => {
        const expected = core.validations.validateUserDataAddBody({ type: number, value: text }).isOk();
        return (validateUserData({ type: number as number, value: text }) === undefined) === expected;
      }),
      { numRuns: 1000 },
    );
  });
});

import { type Static, Type } from "@sinclair/typebox";
import { ApiError } from "../../../http/errors.ts";
import { clientKeyOf, exchangeOf } from "../../../http/exchange.ts";
import { flat } from "../../../http/limits/prices.ts";
import { address, choice, fid, optional, textList } from "../../../http/request/params.ts";
import type { Hex } from "../../../protocol/validate/eth.ts";
import { presentUser, presentUserDehydrated } from "../../../read/present/compat/user.ts";
import { runQuery } from "../../../read/run-query.ts";
import type { BaseBalances, TokenBalance } from "../../../transactions/base-balances.ts";
import { UserDehydrated } from "../../dialects/compat-objects.ts";
import { EthAddress, nullable, object } from "../../dialects/fields.ts";
import { operationsOf } from "../../op.ts";
import { topic } from "../../topic.ts";

const { op } = topic({ tag: "Users", surface: "compat" });

/** USDC on Base, whose balance is also its value in dollars. */
const USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
const MAX_ADDRESSES = 100;
/** How many of a user's verified addresses are read: an account may have hundreds. */
const MAX_HOLDERS = 20;
const UNAVAILABLE = "the RPC of Base does not respond";

const Balance = object({
  object: Type.Literal("token_balance"),
  token: object({
    object: Type.Literal("token"),
    name: Type.String(),
    symbol: Type.String(),
    address: Type.Optional(EthAddress),
    decimals: Type.Integer(),
  }),
  balance: object({
    in_token: Type.String(),
    in_usdc: nullable(Type.String({ description: "Of USDC only: this service has no prices" })),
  }),
});

const UserBalance = object(
  {
    user_balance: object({
      object: Type.Literal("user_balance"),
      user: UserDehydrated,
      address_balances: Type.Array(
        object({
          object: Type.Literal("address_balance"),
          verified_address: object({ address: EthAddress, network: Type.Literal("base") }),
          token_balances: Type.Array(Balance),
        }),
      ),
    }),
  },
  { $id: "FarcasterUserBalance" },
);

const NoBalances = object({
  balances: Type.Array(Type.Unknown(), { maxItems: 0 }),
  next: object({ cursor: Type.Null() }),
});

const presentBalance = ({ address: contract, name, symbol, decimals, amount }: TokenBalance) => ({
  object: "token_balance" as const,
  token: {
    object: "token" as const,
    name,
    symbol,
    ...(contract === null ? {} : { address: contract }),
    decimals,
  },
  balance: { in_token: amount, in_usdc: contract === USDC ? amount : null },
});

export const balanceOperations = [
  op({
    id: "getUserBalance",
    path: "/user/balance",
    summary: "What the verified addresses of a user hold on Base",
    description: `Ether and the tokens that the operator lists, of ${MAX_HOLDERS} addresses at most, by the operator's RPC of Base. Empty where the operator has none.`,
    query: { fid: optional(fid()), networks: optional(choice(["base"])) },
    response: Type.Union([UserBalance, NoBalances]),
    errors: ["notFound", "unavailable"],
    price: flat(5),
    share: "chainReads",
    async run({ reads, balances }, { query, request }) {
      const { fid: user } = query;
      if (!balances || user === undefined) return { balances: [], next: { cursor: null } };
      const { shown, addresses } = runQuery(
        reads,
        () => undefined,
        () => ({ fids: [user] }),
        (_, hydration) => ({
          shown: presentUserDehydrated(user, hydration),
          addresses: (presentUser(user, hydration)?.verified_addresses.eth_addresses ?? []).slice(
            0,
            MAX_HOLDERS,
          ) as Hex[],
        }),
      );
      if (!shown) throw new ApiError("notFound", `user ${user} not found`);
      const held = await balances.balancesOf(addresses, clientKeyOf(exchangeOf(request)));
      if (!held) throw new ApiError("unavailable", UNAVAILABLE);
      return {
        user_balance: {
          object: "user_balance",
          user: shown,
          address_balances: addresses.map((holder, at) => ({
            object: "address_balance",
            verified_address: { address: holder, network: "base" },
            token_balances: (held[at] ?? []).map(presentBalance),
          })),
        },
      };
    },
  }),
];

/** The dependencies of the operations outside the prefix of the hosted API. */
interface BesideDeps {
  readonly dialect?: undefined;
  readonly balances: BaseBalances;
}

const Check = Type.Record(
  Type.String(),
  object({
    object: Type.Literal("subscribed_to_dehydrated"),
    status: Type.Boolean({ description: "Whether the contract says that the address holds something" }),
    expires_at: Type.Null(),
    subscribed_at: Type.Null(),
    tier: Type.Null(),
  }),
);

/** Subscriptions by a contract on Base, if the operator has a Base RPC. */
export const subscriptionOperations = [
  operationsOf<BesideDeps>({ surface: "stp", tag: "Wallets and tokens" }).op({
    id: "checkSubscriptions",
    path: "/subscription_check",
    summary: "Whether addresses hold a subscription of a contract on Base",
    description: "`balanceOf` of the contract decides. It says neither since when nor until when.",
    query: {
      addresses: textList({ maxItems: MAX_ADDRESSES, maxChars: 42, description: "Ethereum addresses" }),
      contract_address: address(),
      chain_id: choice(["8453"]),
    },
    response: Check,
    errors: ["unavailable"],
    price: flat(5),
    share: "chainReads",
    async run({ balances }, { query, request }): Promise<Static<typeof Check>> {
      const { addresses, contract_address: contract } = query;
      const holders = addresses.map((text) => text.toLowerCase() as Hex);
      if (!holders.every((holder) => /^0x[0-9a-f]{40}$/.test(holder)))
        throw new ApiError("badRequest", "addresses must be a list of Ethereum addresses");
      const client = clientKeyOf(exchangeOf(request));
      const held = await balances.holdings(contract.toLowerCase() as Hex, holders, client);
      if (!held) throw new ApiError("unavailable", UNAVAILABLE);
      return Object.fromEntries(
        addresses.map((shown, at) => [
          shown,
          {
            object: "subscribed_to_dehydrated" as const,
            status: (held[at] ?? 0n) > 0n,
            expires_at: null,
            subscribed_at: null,
            tier: null,
          },
        ]),
      );
    },
  }),
];

/** Ether has no contract. */
const NO_CONTRACT = `0x${"0".repeat(40)}`;

const WalletBalances = object({
  balances: Type.Array(
    object({
      address: EthAddress,
      balance: Type.String({ description: "In the smallest unit" }),
      decimals: Type.Integer(),
      name: Type.String(),
      symbol: Type.String(),
      network: Type.Literal("base"),
      balance_usd: Type.Null(),
      price_usd: Type.Null(),
      image_url: Type.Null(),
    }),
  ),
  next: object({ cursor: Type.Null() }),
});

/** Balances of any address on Base, if the operator has a Base RPC. */
export const walletOperations = [
  operationsOf<BesideDeps>({ surface: "onchain", tag: "Wallets and tokens" }).op({
    id: "getWalletBalances",
    path: "/token/balances",
    summary: "What an address holds on Base",
    description:
      "Ether, under the zero address, and the tokens that the operator lists. There are no prices.",
    query: { address: address(), networks: optional(choice(["base"])) },
    response: WalletBalances,
    errors: ["unavailable"],
    price: flat(5),
    share: "chainReads",
    async run({ balances }, { query, request }): Promise<Static<typeof WalletBalances>> {
      const holder = query.address.toLowerCase() as Hex;
      const held = await balances.balancesOf([holder], clientKeyOf(exchangeOf(request)));
      if (!held) throw new ApiError("unavailable", UNAVAILABLE);
      return {
        balances: (held[0] ?? []).map(({ address: contract, units, decimals, name, symbol }) => ({
          address: contract ?? NO_CONTRACT,
          balance: units,
          decimals,
          name,
          symbol,
          network: "base",
          balance_usd: null,
          price_usd: null,
          image_url: null,
        })),
        next: { cursor: null },
      };
    },
  }),
];

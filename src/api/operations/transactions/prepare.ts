import { type Static, type TObject, Type } from "@sinclair/typebox";
import { custodyFromIndex } from "../../../auth/owners/custody.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { ApiError } from "../../../http/errors.ts";
import { clientKeyOf, exchangeOf } from "../../../http/exchange.ts";
import { flat } from "../../../http/limits/prices.ts";
import { OPEN_READ } from "../../../http/route-terms.ts";
import { type Hex, toHex } from "../../../protocol/validate/eth.ts";
import { addressOwners } from "../../../read/queries/users/owners.ts";
import { type Clock, nowSecs } from "../../../runtime/clock.ts";
import { isSignedBy, type Sponsorship, type Transactions } from "../../../transactions/prepare.ts";
import type { PreparedTransaction } from "../../../transactions/prepared-transaction.ts";
import { type Assignable, EthAddress, nullable, object } from "../../dialects/fields.ts";
import { topic } from "../../topic.ts";

const { op } = topic({ tag: "Transactions" });

const MAX_DEADLINE_SECS = 30 * 86_400;
const DEFAULT_DEADLINE_SECS = 86_400;

const Address = Type.String({ pattern: "^0x[0-9a-fA-F]{40}$" });
const Signature = Type.String({ pattern: "^0x([0-9a-fA-F]{2}){1,8192}$", maxLength: 2 + 2 * 8192 });
const Deadline = Type.Integer({ minimum: 0, description: "Unix seconds, at most 30 days from now" });
const PositiveFid = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

const Sponsored = Type.Optional(
  object(
    {
      deadline: Type.Optional(Deadline),
      signature: Type.Optional(Signature),
    },
    {
      description:
        "Someone else pays. Without `signature`, the response has the typed data that the user signs; with it, the whole transaction",
    },
  ),
);

const KeyFields = {
  fid: Type.Optional(
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: "Whose key it becomes" }),
  ),
  owner: Type.Optional(
    Type.String({
      pattern: "^0x[0-9a-fA-F]{40}$",
      description: "Instead of `fid`, while the address has none",
    }),
  ),
  request: object(
    {
      fid: Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: "The fid of the app that asks for the key",
      }),
      deadline: Type.Optional(Deadline),
      signature: Type.Optional(Signature),
    },
    {
      description:
        "Without `signature`, the response has the typed data that the custody address of `request.fid` signs",
    },
  ),
  sponsored: Sponsored,
};

const Prepared = object(
  {
    chain_id: Type.Integer(),
    to: EthAddress,
    data: nullable(Type.String({ description: "Null until `typed_data` is signed" })),
    value: nullable(
      Type.String({ description: "Wei, decimal; null where the wallet reads it, see `reads`" }),
    ),
    sender: nullable(EthAddress),
    typed_data: Type.Optional(
      object({
        domain: Type.Record(Type.String(), Type.Union([Type.String(), Type.Integer()])),
        types: Type.Record(Type.String(), Type.Array(object({ name: Type.String(), type: Type.String() }))),
        primaryType: Type.String(),
        message: Type.Record(Type.String(), Type.Union([Type.String(), Type.Integer(), Type.Null()])),
      }),
    ),
    signer: Type.Optional(EthAddress),
    reads: Type.Array(object({ to: EthAddress, data: Type.String(), gives: Type.String() }), {
      description: "Views that the wallet asks the chain for, because this node has no RPC of Optimism",
    }),
    expires_at: nullable(Type.Integer({ description: "Unix seconds" })),
    warnings: Type.Array(Type.String()),
  },
  { $id: "PreparedTransaction" },
);

export type PreparedCheck = Assignable<PreparedTransaction, Static<typeof Prepared>>;

const NO_KEYS =
  "Nothing is signed or sent by this service. With `chain.op_rpc_url`, prices and nonces are in the response; else `reads` says which views the wallet asks the chain for.";

interface Prepare<B extends TObject> {
  readonly id: string;
  readonly path: string;
  readonly summary: string;
  readonly body: B;
  readonly run: (context: {
    readonly transactions: Transactions;
    readonly db: IndexDatabase;
    readonly clock: Clock;
    readonly body: Static<B>;
    readonly client: string;
  }) => Promise<PreparedTransaction>;
}

function prepare<B extends TObject>({ run, ...spec }: Prepare<B>) {
  return op({
    ...spec,
    method: "POST",
    surface: "native",
    description: NO_KEYS,
    access: OPEN_READ,
    price: flat(5),
    response: Prepared,
    errors: ["conflict", "notFound"],
    run: ({ transactions, reads }, { request, body }) =>
      run({
        transactions,
        db: reads.db,
        clock: reads.clock,
        body: body as Static<B>,
        client: clientKeyOf(exchangeOf(request)),
      }),
  });
}

export const prepareOperations = [
  prepare({
    id: "prepareRegistration",
    path: "/prepare/register",
    summary: "Prepare the registration of an fid",
    body: object({
      address: Address,
      recovery: Address,
      extra_storage: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000 })),
      sponsored: Sponsored,
    }),
    run({ transactions, db, clock, body, client }) {
      const address = hex(body.address);
      const [owner] = addressOwners(db, {
        addresses: [{ shown: address, hex: address.slice(2) }],
        verified: false,
        custody: true,
      });
      if (owner) throw new ApiError("conflict", `address: it is the custody address of fid ${owner.fids[0]}`);
      return transactions.register({
        address,
        recovery: hex(body.recovery),
        extraStorage: body.extra_storage ?? 0,
        sponsored: sponsorship(body.sponsored, clock),
        client,
      });
    },
  }),
  prepare({
    id: "prepareStorage",
    path: "/prepare/storage",
    summary: "Prepare renting storage",
    body: object({ fid: PositiveFid, units: Type.Integer({ minimum: 1, maximum: 10_000 }) }),
    run({ transactions, db, body, client }) {
      const { fid, units } = body;
      custodyOf(db, fid, "fid");
      return transactions.storage({ fid, units, client });
    },
  }),
  prepare({
    id: "prepareKey",
    path: "/prepare/key",
    summary: "Prepare adding a signer",
    body: object({ ...KeyFields, key: Type.String({ pattern: "^0x[0-9a-fA-F]{64}$" }) }),
    run: ({ body, ...context }) => prepareKey(context, body, hex(body.key)),
  }),
  prepare({
    id: "prepareAuthAddress",
    path: "/prepare/auth_address",
    summary: "Prepare adding an auth address",
    body: object({ ...KeyFields, address: Address }),
    run: ({ body, ...context }) => prepareKey(context, body, hex(body.address)),
  }),
];

type KeyBody = Static<TObject<typeof KeyFields>>;

async function prepareKey(
  context: Omit<Parameters<Prepare<TObject>["run"]>[0], "body">,
  { fid, owner, request, sponsored }: KeyBody,
  key: Hex,
): Promise<PreparedTransaction> {
  const { transactions, db, clock, client } = context;
  if ((fid === undefined) === (owner === undefined))
    throw new ApiError("badRequest", "give one of fid and owner");
  const asked = {
    key,
    owner: fid === undefined ? hex(owner ?? "") : custodyOf(db, fid, "fid"),
    requestFid: request.fid,
    requestSigner: custodyOf(db, request.fid, "request.fid"),
    requestDeadline: deadlineOf(request.deadline, request.signature, "request.deadline", clock),
    requestSignature: request.signature === undefined ? undefined : hex(request.signature),
    sponsored: sponsorship(sponsored, clock),
  };
  if (isSignedBy(asked) === false)
    throw new ApiError("badRequest", "request.signature is not that of the custody address of request.fid");
  return transactions.key({ ...asked, client });
}

function custodyOf(db: IndexDatabase, fid: number, field: string): Hex {
  const custody = custodyFromIndex(db)(fid);
  if (!custody)
    throw new ApiError("notFound", `${field}: fid ${fid} is not registered, as far as this node knows`);
  return toHex(custody);
}

function sponsorship(
  sponsored: { readonly deadline?: number; readonly signature?: string } | undefined,
  clock: Clock,
): Sponsorship | undefined {
  if (!sponsored) return undefined;
  const { deadline, signature } = sponsored;
  return {
    deadline: deadlineOf(deadline, signature, "sponsored.deadline", clock),
    signature: signature === undefined ? undefined : hex(signature),
  };
}

/** If it is already signed, the deadline is known. */
function deadlineOf(
  deadline: number | undefined,
  signature: string | undefined,
  field: string,
  clock: Clock,
): number {
  const now = nowSecs(clock);
  if (deadline === undefined && signature !== undefined)
    throw new ApiError("badRequest", `${field} must be the one that was signed`);
  const at = deadline ?? now + DEFAULT_DEADLINE_SECS;
  if (at <= now || at > now + MAX_DEADLINE_SECS)
    throw new ApiError("badRequest", `${field} must be in the next 30 days`);
  return at;
}

function hex(text: string): Hex {
  return text.toLowerCase() as Hex;
}

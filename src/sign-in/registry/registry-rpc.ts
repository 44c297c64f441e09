import type { StaleReason } from "../../auth/owners/custody.ts";
import { UnconfirmedError } from "../../auth/owners/owners.ts";
import type { Hex } from "../../protocol/validate/eth.ts";
import { ID_REGISTRY, KEY_REGISTRY } from "../../transactions/contracts.ts";
import { type ContractSignatures, readValidation } from "../contract-signature.ts";
import type { People } from "../people.ts";
import { type RegistryCall, type RegistryRefusal, SERVED } from "./registry-calls.ts";
import type { RegistryFacts } from "./registry-facts.ts";

/** A JSON-RPC response. */
export interface RpcResponse {
  readonly jsonrpc: "2.0";
  readonly id: string | number | null;
  readonly result?: string;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: string };
}

/** The JSON-RPC of Optimism, as far as the index can serve it. */
export type RegistryRpc = ReturnType<typeof createRegistryRpc>;

export const MAX_BATCH = 20;

/** Error codes of JSON-RPC and of this server. */
const CODES = {
  invalidRequest: -32600,
  unserved: -32601,
  invalidParams: -32602,
  reverted: 3,
  oldBlock: -32001,
  outOfScope: -32002,
  limited: -32005,
} as const;

const HEX = /^0x([0-9a-fA-F]{2})*$/;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
/** Block tags that mean the current state. */
const NOW = new Set<unknown>([undefined, "latest", "pending"]);
const METHODS = new Set(["eth_chainId", "net_version", "eth_blockNumber", "eth_call", "eth_getCode"]);

class RpcError extends Error {
  readonly code: number;

  constructor(code: keyof typeof CODES, message: string) {
    super(message);
    this.code = CODES[code];
  }
}

const REFUSALS: Readonly<Record<RegistryRefusal, () => RpcError>> = {
  unserved: () => new RpcError("unserved", `this node serves ${SERVED}`),
  "out-of-scope": () =>
    new RpcError("outOfScope", "this node does not follow the fid: see upstream.fids and upstream.fid_file"),
  malformed: () => new RpcError("reverted", "execution reverted"),
  unknowable: () => new RpcError("reverted", "execution reverted: this node cannot ask contract wallets"),
};

export function createRegistryRpc(deps: {
  readonly registries: RegistryCall;
  readonly facts: Pick<RegistryFacts, "height">;
  readonly people: Pick<People, "isKnown">;
  /** Undefined without an RPC for Optimism. */
  readonly contracts: Pick<ContractSignatures, "validate"> | undefined;
  readonly staleReason: StaleReason;
  readonly count: (method: string) => void;
}) {
  const { registries, facts, people, contracts, staleReason, count } = deps;

  async function requireFresh(): Promise<void> {
    const stale = await staleReason();
    if (stale !== undefined) throw new RpcError("limited", `try again: ${stale}`);
  }

  /** Handles a call without a target, which runs the code in its data. Only validators of known addresses are forwarded. */
  async function callDeployless(data: Hex, client: string): Promise<string> {
    const validation = contracts && (await readValidation(data));
    if (!contracts || !validation || !people.isKnown(validation.address))
      throw new RpcError("reverted", "execution reverted");
    const result = await contracts.validate(validation, client);
    switch (result) {
      case "reverted":
        throw new RpcError("reverted", "execution reverted");
      case "limited":
      case "busy":
      case "unavailable":
        throw new RpcError("limited", "the RPC of Optimism cannot be asked now; try again");
      default:
        return result;
    }
  }

  async function ethCall([call, block]: readonly unknown[], client: string): Promise<string> {
    if (typeof call !== "object" || call === null)
      throw new RpcError("invalidParams", "the first parameter must be a call");
    const { to, data, input = data } = call as Readonly<Record<string, unknown>>;
    if (typeof input !== "string" || !HEX.test(input))
      throw new RpcError("invalidParams", "data must be hex");
    requireNow(block);
    await requireFresh();
    if (to === undefined || to === null) return callDeployless(input as Hex, client);
    if (typeof to !== "string" || !ADDRESS.test(to))
      throw new RpcError("invalidParams", "to must be an address");
    const result = await registries(to, input as Hex).catch((cause) => {
      throw cause instanceof UnconfirmedError
        ? new RpcError("limited", `try again: ${cause.message}`)
        : cause;
    });
    if (result.ok) return result.value;
    throw REFUSALS[result.error]();
  }

  async function run(method: string, params: readonly unknown[], client: string): Promise<string> {
    switch (method) {
      case "eth_chainId":
        return "0xa";
      case "net_version":
        return "10";
      case "eth_blockNumber":
        await requireFresh();
        return `0x${facts.height().toString(16)}`;
      case "eth_call":
        return ethCall(params, client);
      case "eth_getCode": {
        const [address, block] = params;
        if (typeof address !== "string" || !ADDRESS.test(address))
          throw new RpcError("invalidParams", "the first parameter must be an address");
        requireNow(block);
        return [ID_REGISTRY, KEY_REGISTRY].some((one) => one === address.toLowerCase()) ? "0x01" : "0x";
      }
      default:
        throw REFUSALS.unserved();
    }
  }

  return {
    /**
     * Serves one call.
     *
     * @param client the client whose share of calls to the operator's RPC is used.
     */
    async call(request: unknown, client: string): Promise<RpcResponse> {
      const {
        jsonrpc,
        id,
        method,
        params = [],
      } = (typeof request === "object" && request !== null ? request : {}) as Readonly<
        Record<string, unknown>
      >;
      const shown = typeof id === "string" || typeof id === "number" ? id : null;
      try {
        if (jsonrpc !== "2.0" || typeof method !== "string" || !Array.isArray(params))
          throw new RpcError("invalidRequest", "not a request of JSON-RPC 2.0");
        count(METHODS.has(method) ? method : "other");
        return { jsonrpc: "2.0", id: shown, result: await run(method, params, client) };
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        const { code, message } = error;
        const data = code === CODES.reverted ? { data: "0x" } : {};
        return { jsonrpc: "2.0", id: shown, error: { code, message, ...data } };
      }
    },
  };
}

function requireNow(block: unknown): void {
  if (!NOW.has(block)) throw new RpcError("oldBlock", "this node knows the latest block alone");
}

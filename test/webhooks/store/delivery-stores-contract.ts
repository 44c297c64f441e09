import { claimsContract } from "./claims-contract.ts";
import type { OpenDeliveries } from "./delivery-fixture.ts";
import { deliveryLogContract } from "./delivery-log-contract.ts";
import { deliverySweepsContract } from "./delivery-sweeps-contract.ts";
import { publicationsContract } from "./publications-contract.ts";
import { rateLimitContract } from "./rate-limit-contract.ts";
import { replaysContract } from "./replays-contract.ts";
import { settlementsContract } from "./settlements-contract.ts";

const contracts = [
  publicationsContract,
  claimsContract,
  rateLimitContract,
  settlementsContract,
  deliveryLogContract,
  deliverySweepsContract,
  replaysContract,
];

/** The guarantees of every implementation of the delivery stores. */
export function deliveryStoresContract(name: string, open: OpenDeliveries): void {
  for (const contract of contracts) contract(name, open);
}

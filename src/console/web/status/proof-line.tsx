import type { Proof } from "../../pulse/pulse.ts";
import { pageConfig } from "../page-config.ts";
import { Pill } from "../parts/pill.tsx";
import * as msg from "../text/en/status.ts";
import { formatCount, formatSecs } from "../text/format.ts";

const { service } = pageConfig;

/** Says how far what the node follows is proven; in red, what is wrong and what to do. */
export function ProofLine({ proof }: { proof: Proof }) {
  const wrong = wrongIn(proof);
  return wrong ? (
    <p role="status">
      <Pill kind="bad">{msg.notTheNetworks}</Pill> {wrong[0]} {wrong[1]}
    </p>
  ) : (
    <p class="s dim">{rightIn(proof)}</p>
  );
}

/** What is wrong, and what to do. */
function wrongIn({
  state,
  shard,
  height,
  age_secs: ageSecs,
  accounts,
}: Proof): readonly [string, string] | undefined {
  const at = formatCount(height ?? 0);
  switch (state) {
    case "fork":
      return [msg.validatorsForked(shard, at), msg.whatToDoAboutAFork];
    case "unknown_validators":
      return [msg.validatorsAreUnknown(shard), msg.whatToDoAboutUnknownValidators(service)];
    case "quarantined":
      return [msg.accountsAreQuarantined(formatCount(accounts)), msg.whatToDoAboutQuarantinedAccounts];
    case "stale":
      return [msg.stateIsStale(shard, formatSecs(ageSecs ?? 0)), msg.whatToDoAboutAStaleProof];
    case "differs":
      return [msg.stateDiffers(shard, at), msg.whatToDoAboutAnotherState(service)];
    default:
      return undefined;
  }
}

function rightIn({ state, shard, height, age_secs: ageSecs, signers, validators }: Proof): string {
  const quorum = signers === null || validators === null ? "" : msg.against(signers, validators);
  const blocks = msg.blocksAreVerified(quorum);
  switch (state) {
    case "proven":
      return msg.provenAt(formatCount(height ?? 0), shard, formatSecs(ageSecs ?? 0), quorum);
    case "computing":
      return `${blocks} ${msg.stateIsComputed}`;
    case "incomplete":
      return `${blocks} ${msg.stateIsIncomplete}`;
    case "unproven":
      return `${blocks} ${msg.stateIsUnproven}`;
    case "node":
      return msg.nodeIsBelieved;
    default:
      return blocks;
  }
}

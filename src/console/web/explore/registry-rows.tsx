import { shortHex } from "../data/format.ts";
import type { Page } from "../data/pages.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Pill } from "../parts/pill.tsx";
import { Time } from "../parts/time.tsx";

interface ChainEvent {
  readonly object: string;
  readonly event_type: string;
  readonly block_number: number;
  readonly block_timestamp: number;
}

export interface SignerEvent extends ChainEvent {
  readonly signer_key: string;
}

export interface IdRegistryEvent extends ChainEvent {
  readonly from: string | null;
  readonly to: string | null;
  readonly recovery_address: string | null;
}

interface Events<T> {
  readonly events: readonly T[];
  readonly next?: { readonly cursor: string | null };
}

const eventsOf = <T,>({ events, next }: Events<T>): Page<T> => ({
  items: events,
  next: next?.cursor ?? null,
});
export const signerEventsOf = (body: Events<SignerEvent>) => eventsOf(body);
export const idRegistryEventsOf = (body: Events<IdRegistryEvent>) => eventsOf(body);

export const eventKey = (event: SignerEvent | IdRegistryEvent) =>
  `${event.block_number} ${event.event_type} ${"signer_key" in event ? event.signer_key : (event.to ?? event.recovery_address)}`;

const SIGNER_EVENTS: Readonly<Record<string, readonly ["ok" | "bad" | "warn", string]>> = {
  add: ["ok", "Added"],
  remove: ["bad", "Removed"],
  admin_reset: ["warn", "Reset by the administrator"],
};

/** An event of a key: added or removed, when, in which block. */
export function SignerRow({ event }: { event: SignerEvent }) {
  const [kind, word] = SIGNER_EVENTS[event.event_type] ?? ["warn", event.event_type];
  return (
    <div class="row person wrap" data-row tabIndex={-1}>
      <Pill kind={kind}>{word}</Pill>
      <span class="mono grow" title={event.signer_key}>
        {shortHex(event.signer_key)}
      </span>
      <span class="dim s">block {event.block_number}</span>
      <Time at={event.block_timestamp} />
      <CopyButton text={event.signer_key} />
    </div>
  );
}

function sentenceOf({ event_type, from, to, recovery_address }: IdRegistryEvent): string {
  const recovery = recovery_address === null ? "" : `, recovery by ${shortHex(recovery_address)}`;
  if (event_type === "Register") return `Registered to ${shortHex(to ?? "")}${recovery}`;
  if (event_type === "Transfer") return `Moved from ${shortHex(from ?? "")} to ${shortHex(to ?? "")}`;
  return `Recovery address is now ${shortHex(recovery_address ?? "")}`;
}

/** An event of the registry of fids, as a sentence. */
export function IdRegistryRow({ event }: { event: IdRegistryEvent }) {
  return (
    <div class="row person wrap" data-row tabIndex={-1}>
      <span class="grow" title={[event.from, event.to, event.recovery_address].filter(Boolean).join(" ")}>
        {sentenceOf(event)}
      </span>
      <span class="dim s">block {event.block_number}</span>
      <Time at={event.block_timestamp} />
    </div>
  );
}

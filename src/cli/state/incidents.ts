import type { Command } from "commander";
import type { AuditStore } from "../../audit/audit-store.ts";
import type { OperatorIncident } from "../../checks/incident-report.ts";
import type { IncidentStore } from "../../checks/incident-store.ts";
import type { OwnerFindings } from "../../checks/owners/owner-findings.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Common } from "../../runtime/common.ts";
import type { CommandContext } from "../context.ts";
import { print } from "../output.ts";
import { commandUser, onState } from "./state.ts";

/** `incidents list|ack|note|mute`: what the nodes' checks have found. */
export function registerIncidents(program: Command, context: CommandContext): void {
  const incidents = program
    .command("incidents")
    .description("show and annotate what the checks of the nodes have found");

  incidents
    .command("list")
    .description("list the open incidents, then those of the last 90 days")
    .option("--open", "open ones only")
    .option("--json", "print JSON")
    .action(async ({ open = false, json = false }: { open?: boolean; json?: boolean }) => {
      const { operatorReport } = await import("../../checks/report.ts");
      const { nowSecs } = await import("../../runtime/clock.ts");
      await onIncidents(context, async (store, { clock, config, findings }) => {
        const context = { nowSecs: nowSecs(clock), watchedSince: 0, thresholds: config.checks, findings };
        const report = await operatorReport(store, context);
        const shown = report.incidents.filter(({ state }) => !open || state !== "resolved");
        if (json) print(`${JSON.stringify({ incidents: shown }, null, 2)}\n`);
        else print(shown.length === 0 ? "no incidents\n" : shown.map(lineOf).join(""));
      });
    });

  incidents
    .command("ack")
    .description("acknowledge an incident: someone is working on it")
    .argument("<id>", "of the incident")
    .option("--note <text>", "what is known of it; anyone who sees the incident reads it")
    .action(async (id: string, { note }: { note?: string }) => {
      const text = await noteOf(note);
      const { nowSecs } = await import("../../runtime/clock.ts");
      await change(context, "incident.ack", id, (store, clock) =>
        store.acknowledge(id, commandUser(), text, nowSecs(clock)),
      );
    });

  incidents
    .command("note")
    .description("write what is known of an incident, for everyone who sees it; an empty text removes it")
    .argument("<id>", "of the incident")
    .argument("<text>", "at most 500 characters")
    .action(async (id: string, text: string) => {
      const note = await noteOf(text);
      await change(context, "incident.note", id, (store) => store.note(id, note));
    });

  incidents
    .command("mute")
    .description("mute an incident for a while; it stays in the lists")
    .argument("<id>", "of the incident")
    .requiredOption("--hours <n>", "for how long, 1 to 720; 0 ends it", "24")
    .action(async (id: string, { hours }: { hours: string }) => {
      const { mutedUntil } = await import("../../checks/incident-text.ts");
      const { UserError } = await import("../../lib/failure.ts");
      const { nowSecs } = await import("../../runtime/clock.ts");
      const count = Number(hours);
      await change(context, "incident.mute", id, (store, clock) => {
        const until = mutedUntil(count, nowSecs(clock));
        if (until === undefined) throw new UserError("--hours must be an integer from 0 to 720");
        return store.mute(id, until);
      });
    });
}

function lineOf(incident: OperatorIncident): string {
  const { id, severity, state, opened_at, resolved_at, title, sentence, resolution } = incident;
  const { node, flaps, note } = incident;
  const whose =
    incident.owner_fid === null ? (node === null ? "" : ` on ${node}`) : ` of fid ${incident.owner_fid}`;
  const until = resolved_at === null ? "" : ` to ${timeOf(resolved_at)}`;
  const again = flaps === 0 ? "" : `, opened again ${flaps} times`;
  return (
    `${id}  ${severity.padEnd(8)}  ${state.padEnd(12)}  ${timeOf(opened_at)}${until}${again}\n` +
    `    ${title}${whose}: ${sentence}${resolution === null ? "" : ` ${resolution}`}\n` +
    (note === null ? "" : `    ${note}\n`)
  );
}

function timeOf(unixSecs: number): string {
  return new Date(unixSecs * 1000).toISOString().replace(".000Z", "Z");
}

/** Reads a note; null for none or an empty one. */
async function noteOf(text: string | undefined): Promise<string | null> {
  const { isNote, MAX_NOTE_CHARS } = await import("../../checks/incident-text.ts");
  const { UserError } = await import("../../lib/failure.ts");
  if (text === undefined || text === "") return null;
  if (!isNote(text))
    throw new UserError(`a note has at most ${MAX_NOTE_CHARS} characters, without control characters`);
  return text;
}

type IncidentAction = "incident.ack" | "incident.note" | "incident.mute";

/** Changes an incident, and records that in the audit log. */
async function change(
  context: CommandContext,
  action: IncidentAction,
  id: string,
  run: (store: IncidentStore, clock: Clock) => Promise<boolean>,
): Promise<void> {
  const { UserError } = await import("../../lib/failure.ts");
  const { operatorEntry } = await import("../../audit/operator-entry.ts");
  await onIncidents(context, async (store, { clock, audit }) => {
    if (!(await run(store, clock))) throw new UserError(`there is no incident ${JSON.stringify(id)}`);
    await audit.append([
      operatorEntry({ action, id, atMs: clock.nowMs(), requestId: "", address: commandUser() }),
    ]);
    print(`done: ${id}\n`);
  });
}

async function onIncidents(
  context: CommandContext,
  work: (
    store: IncidentStore,
    deps: Pick<Common, "clock" | "config"> & { readonly audit: AuditStore; readonly findings: OwnerFindings },
  ) => Promise<void>,
): Promise<void> {
  const { createAudit } = await import("../../audit/audit-store.ts");
  const { createIncidents } = await import("../../checks/incident-store.ts");
  const { createOwnerFindings } = await import("../../checks/owners/owner-findings.ts");
  await onState(context, (db, { clock, config }) =>
    work(createIncidents(db), { clock, config, audit: createAudit(db), findings: createOwnerFindings(db) }),
  );
}

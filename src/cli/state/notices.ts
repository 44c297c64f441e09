import type { Command } from "commander";
import type { Severity } from "../../checks/check.ts";
import type { ChannelReport, HookPreset } from "../../notices/report.ts";
import type { CommandContext } from "../context.ts";
import { print } from "../output.ts";
import { commandUser, onState } from "./state.ts";

interface HookFlags {
  readonly label: string;
  readonly preset: HookPreset;
  readonly to?: string;
  readonly body?: string;
  readonly header: readonly string[];
  readonly severity: Severity;
  readonly checks?: string;
  readonly quiet?: string;
  readonly zone: string;
}

/** `notices list|hook|test|remove`: the channels that get notices of incidents. */
export function registerNotices(program: Command, context: CommandContext): void {
  const notices = program.command("notices").description("manage the channels that get notices of incidents");

  notices
    .command("list")
    .description("list the channels, with the result of the last call")
    .option("--json", "print JSON")
    .action(async ({ json = false }: { json?: boolean }) =>
      onNotices(context, async (service) => {
        const { channels } = await service.report();
        if (json) print(`${JSON.stringify({ channels }, null, 2)}\n`);
        else print(channels.length === 0 ? "no channels\n" : channels.map(lineOf).join(""));
      }),
    );

  notices
    .command("hook")
    .description(
      "call a URL when an incident opens and when it is resolved; browsers subscribe on the operator's page",
    )
    .argument("<url>", "https")
    .requiredOption("--label <text>", "its name in lists")
    .option("--preset <name>", "json, slack, discord, ntfy or telegram", "json")
    .option("--to <id>", "of telegram: the id of the chat")
    .option(
      "--body <json>",
      "instead of the preset's, with {{title}}, {{text}}, {{severity}}, {{state}}, {{url}} and {{incident}} in its texts",
    )
    .option(
      "--header <name: value>",
      "a header of each call; may be repeated",
      (one: string, all: string[]) => [...all, one],
      [],
    )
    .option("--severity <name>", "the lowest that it gets: critical, warning or notice", "critical")
    .option("--checks <ids>", "these checks only, as disk_fills_up,backup_failed")
    .option("--quiet <from-to>", "hours without notices but critical ones, as 22:00-07:00")
    .option("--zone <name>", "of these hours, as Europe/Berlin", "UTC")
    .action(async (url: string, flags: HookFlags) => {
      const { UserError } = await import("../../lib/failure.ts");
      const { itemsOf } = await import("../../lib/text.ts");
      const { HOOK_PRESETS } = await import("../../notices/target.ts");
      const { label, preset, to, body, header, severity, checks, quiet, zone } = flags;
      if (!Object.hasOwn(HOOK_PRESETS, preset))
        throw new UserError(`--preset must be one of ${Object.keys(HOOK_PRESETS).join(", ")}`);
      const headers = Object.fromEntries(
        header.map((line) => {
          const [, name, value] = /^([^:]+):\s*(.*)$/.exec(line) ?? [];
          if (name === undefined || value === undefined)
            throw new UserError('--header must be like "name: value"');
          return [name.trim(), value];
        }),
      );
      await change(context, "notice.add", async (service) => {
        const added = await service.add({
          ...{ kind: "hook", url, label, preset, severity, headers, zone },
          ...(to !== undefined && { to }),
          ...(body !== undefined && { body }),
          ...(checks !== undefined && { checks: itemsOf(checks) }),
          ...(quiet !== undefined && { quiet_hours: quiet }),
        });
        if (!added.ok) throw new UserError(added.error.message);
        const { id, secret } = added.value;
        print(`added ${id}\nsecret ${secret ?? ""}, which verifies its signatures\n`);
        return id;
      });
    });

  notices
    .command("test")
    .description("send a test by a channel; a running node does it within 15 seconds")
    .argument("<id>", "of the channel")
    .action(async (id: string) =>
      change(context, "notice.test", async (service) => {
        await refuseUnknown(await service.test(id), id);
        print(`queued a test for ${id}; \`notices list\` has its result\n`);
        return id;
      }),
    );

  notices
    .command("remove")
    .description("remove a channel")
    .argument("<id>", "of the channel")
    .action(async (id: string) =>
      change(context, "notice.remove", async (service) => {
        await refuseUnknown(await service.remove(id), id);
        print(`removed ${id}\n`);
        return id;
      }),
    );
}

function lineOf({
  id,
  kind,
  label,
  host,
  severity,
  quiet_hours: quiet,
  last_at: at,
  last_error: error,
}: ChannelReport): string {
  const last = at === null ? "not called yet" : `${error ?? "taken"} at ${new Date(at * 1000).toISOString()}`;
  return `${id}  ${kind}  ${label}  ${host}\n    ${severity} and above${quiet === null ? "" : `, quiet ${quiet}`}; ${last}\n`;
}

async function refuseUnknown(isThere: boolean, id: string): Promise<void> {
  const { UserError } = await import("../../lib/failure.ts");
  if (!isThere) throw new UserError(`there is no channel ${JSON.stringify(id)}`);
}

type Service = import("../../notices/notices.ts").Notices;

/** Changes a channel, and records that in the audit log. `work` returns its id. */
async function change(
  context: CommandContext,
  action: "notice.add" | "notice.test" | "notice.remove",
  work: (service: Service) => Promise<string>,
): Promise<void> {
  const { operatorEntry } = await import("../../audit/operator-entry.ts");
  await onNotices(context, async (service, { clock, audit }) => {
    const id = await work(service);
    await audit.append([
      operatorEntry({ action, id, atMs: clock.nowMs(), requestId: "", address: commandUser() }),
    ]);
  });
}

async function onNotices(
  context: CommandContext,
  work: (
    service: Service,
    deps: {
      readonly clock: import("../../runtime/clock.ts").Clock;
      readonly audit: import("../../audit/audit-store.ts").AuditStore;
    },
  ) => Promise<void>,
): Promise<void> {
  const { createAudit } = await import("../../audit/audit-store.ts");
  const { noticesDeps } = await import("../../node/compose/checks.ts");
  const { createNotices } = await import("../../notices/notices.ts");
  const { createNoticeStore } = await import("../../notices/store/notice-store.ts");
  // Owners' channels are left to the node, which knows who the owners are.
  const nobody = async () => undefined;
  const unknown = { owners: { newest: nobody, isOwner: nobody }, isBehind: () => true };
  await onState(context, (db, { config, clock, log }) =>
    work(createNotices(noticesDeps(config, { store: createNoticeStore(db), ...unknown, clock, log })), {
      clock,
      audit: createAudit(db),
    }),
  );
}

import { useState } from "preact/hooks";
import type { Severity } from "../../../checks/check.ts";
import type {
  ChannelReport,
  ChannelTerms,
  HookRequest,
  NamedCheck,
  PushSubscriptionRequest,
} from "../../../notices/report.ts";
import { type Action, ActionButton, Outcome, useAction } from "../owner/action.tsx";
import { Field, Labelled } from "../parts/form.tsx";
import { Pill } from "../parts/pill.tsx";
import { Command } from "../parts/raw-text.tsx";
import { DataTable, timeOrNever } from "../parts/table.tsx";
import * as msg from "../text/en/operator/notices.ts";
import { HookUrlField, isHookUrl } from "./hook-url.tsx";
import { pushObstacle, subscribe } from "./push.ts";
import { EditChannel, TermFields, Terms, type TermTexts, termsOf, ZONE } from "./terms.tsx";

/** The target of a new channel. */
export type ChannelTarget = ({ readonly kind: "hook" } & HookRequest) | PushSubscriptionRequest;

/** How channels are changed, by the operator or by an owner. */
export interface ChannelChanges {
  /** Adds a channel. Resolves to the secret of a hook. */
  add(terms: ChannelTerms, target: ChannelTarget): Promise<string | undefined>;
  edit(channel: ChannelReport, terms: ChannelTerms): Promise<unknown>;
  remove(channel: ChannelReport): Promise<unknown>;
  test(channel: ChannelReport): Promise<unknown>;
  /** Returns the key with which a browser subscribes. */
  pushKey(): Promise<string>;
}

/** After this time a test has been sent if its receiver accepted it. */
const TESTED_MS = 2_000;

type Preset = keyof typeof msg.PRESETS;

function ChannelTable(props: {
  channels: readonly ChannelReport[];
  checks: readonly NamedCheck[];
  action: Action;
  changes: ChannelChanges | undefined;
  onChanged: () => void;
  onEdit: (channel: ChannelReport) => void;
}) {
  const { channels, checks, action, changes, onChanged, onEdit } = props;
  /** The channel whose row shows how the last action ended. */
  const [subject, setSubject] = useState<string>();
  const run = (channel: ChannelReport, what: "test" | "remove") => {
    setSubject(channel.id);
    return action.run(async () => {
      await changes?.[what](channel);
      onChanged();
      if (what === "test") setTimeout(onChanged, TESTED_MS);
      return what === "test" ? msg.theTestIsOnItsWay : msg.removed;
    });
  };
  const isInRow = channels.some(({ id }) => id === subject);
  return (
    <>
      {!isInRow && <Outcome action={action} />}
      <DataTable
        stacks
        label={msg.notices}
        rows={channels}
        keyOf={({ id }) => id}
        columns={[
          { title: msg.channel, cell: ({ label }) => <bdi>{label}</bdi> },
          {
            title: msg.goesTo,
            cell: ({ kind, host }) => (
              <div>
                {kind === "push" ? msg.browser : msg.hook} <span class="mono s dim">{host}</span>
              </div>
            ),
          },
          {
            title: msg.from,
            cell: (channel) => <Terms channel={channel} checks={checks} />,
          },
          {
            title: msg.lastCall,
            cell: ({ last_at: at, last_error: error }) => (
              <div>
                {at !== null && (
                  <Pill kind={error === null ? "ok" : "bad"}>
                    {error === null ? msg.taken : msg.notTaken}
                  </Pill>
                )}{" "}
                {timeOrNever(at)} {error !== null && <bdi class="s">{error}</bdi>}
              </div>
            ),
          },
          ...(changes
            ? [
                {
                  title: msg.actions,
                  cell: (channel: ChannelReport) => (
                    <div class="stack tight">
                      <span class="row wrap">
                        <ActionButton
                          action={action}
                          onClick={() => {
                            setSubject(channel.id);
                            onEdit(channel);
                          }}
                        >
                          {msg.edit}
                        </ActionButton>
                        <ActionButton action={action} onClick={() => run(channel, "test")}>
                          {msg.sendATest}
                        </ActionButton>
                        <ActionButton action={action} kind="bad" onClick={() => run(channel, "remove")}>
                          {msg.remove}
                        </ActionButton>
                      </span>
                      {channel.id === subject && <Outcome action={action} />}
                    </div>
                  ),
                },
              ]
            : []),
        ]}
      />
    </>
  );
}

function AddChannel(props: {
  changes: ChannelChanges;
  checks: readonly NamedCheck[];
  isPushOn: boolean;
  severity: Severity;
  onChanged: () => void;
}) {
  const { changes, checks, isPushOn, severity, onChanged } = props;
  // Each button shows its own outcome.
  const browser = useAction();
  const hook = useAction();
  const [texts, setTexts] = useState<TermTexts>({ label: "", severity, quiet: "", checks: [] });
  const { label } = texts;
  const [url, setUrl] = useState("");
  const [preset, setPreset] = useState<Preset>("json");
  const [to, setTo] = useState("");
  const [secret, setSecret] = useState<string>();
  const obstacle = pushObstacle(isPushOn);
  const add = (action: Action, done: string, target: () => Promise<ChannelTarget>) =>
    action.run(async () => {
      setSecret(undefined);
      setSecret(await changes.add(termsOf(texts, ZONE), await target()));
      setUrl("");
      onChanged();
      return done;
    });
  return (
    <details class="pad">
      <summary>{msg.addAChannel}</summary>
      <div class="stack">
        <TermFields
          id="notice"
          texts={texts}
          checks={checks}
          zone={ZONE}
          onChange={(more) => setTexts({ ...texts, ...more })}
        />
        <p class="row wrap">
          <button
            type="button"
            class="btn go"
            disabled={obstacle !== undefined || label.trim() === ""}
            aria-disabled={browser.isBusy}
            onClick={() => void add(browser, msg.thisBrowserIsSubscribed, () => subscribe(changes.pushKey))}
          >
            {msg.notifyThisBrowser}
          </button>
          {obstacle === undefined ? (
            label.trim() === "" && <span class="s dim">{msg.nameItFirst}</span>
          ) : (
            <span class="s dim">{obstacle}</span>
          )}
        </p>
        <Outcome action={browser} />
        <h3>{msg.orCallAHook}</h3>
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            void add(hook, msg.theHookIsAdded, async () => ({
              kind: "hook",
              url: url.trim(),
              preset,
              ...(to !== "" && { to }),
            }));
          }}
        >
          <HookUrlField value={url} onInput={setUrl} />
          <Labelled id="notice-preset" label={msg.kindOfHook}>
            <select
              id="notice-preset"
              value={preset}
              onChange={({ currentTarget }) => setPreset(currentTarget.value as Preset)}
            >
              {Object.entries(msg.PRESETS).map(([value, words]) => (
                <option value={value} key={value}>
                  {words}
                </option>
              ))}
            </select>
          </Labelled>
          {preset === "telegram" && <Field label={msg.chatId} name="notice-to" value={to} onInput={setTo} />}
          <p class="row wrap">
            <button
              type="submit"
              class="btn"
              disabled={!isHookUrl(url) || label.trim() === ""}
              aria-disabled={hook.isBusy}
            >
              {msg.addHook}
            </button>
            {label.trim() === "" ? (
              <span class="s dim">{msg.nameItFirst}</span>
            ) : (
              url.trim() === "" && <span class="s dim">{msg.aHookNeedsAUrl}</span>
            )}
          </p>
          <Outcome action={hook} />
        </form>
        {secret !== undefined && (
          <>
            <p class="s">{msg.theSecretOfTheHook}</p>
            <Command text={secret} />
          </>
        )}
      </div>
    </details>
  );
}

/** The channels of the operator or of an owner, and the form of a new one. Without `changes` they are read-only. */
export function Channels(props: {
  channels: readonly ChannelReport[];
  /** The checks to which a channel can be limited. */
  checks: readonly NamedCheck[];
  /** Whether the node sends to browsers. */
  isPushOn: boolean;
  /** The default of a new channel. */
  severity: Severity;
  changes: ChannelChanges | undefined;
  /** Explains what notices are. */
  words: string;
  onChanged: () => void;
}) {
  const { channels, checks, isPushOn, severity, changes, words, onChanged } = props;
  const action = useAction();
  const [edited, setEdited] = useState<ChannelReport>();
  return (
    <>
      <p class="pad s dim measure">{words}</p>
      {channels.length === 0 ? (
        <>
          <Outcome action={action} />
          <p class="empty">{msg.noChannels}</p>
        </>
      ) : (
        <ChannelTable
          channels={channels}
          checks={checks}
          action={action}
          changes={changes}
          onChanged={onChanged}
          onEdit={setEdited}
        />
      )}
      {edited && changes && (
        <EditChannel
          key={edited.id}
          channel={edited}
          checks={checks}
          edit={changes.edit}
          onSaved={() => {
            onChanged();
            // Puts the outcome next to the button that opened the editor.
            void action.run(async () => msg.changed);
          }}
          onClose={() => setEdited(undefined)}
        />
      )}
      {changes && (
        <AddChannel
          changes={changes}
          checks={checks}
          isPushOn={isPushOn}
          severity={severity}
          onChanged={onChanged}
        />
      )}
    </>
  );
}

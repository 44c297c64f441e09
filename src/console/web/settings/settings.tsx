import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { SettingInForce, SettingsChanged, SettingsReport } from "../../operator/reports.ts";
import { type Query, useQuery } from "../data/query.ts";
import { OperatorGate } from "../operator/gate.tsx";
import { operatorChange, operatorRead, operatorRequest, restartNode } from "../operator/session.ts";
import { ActionButton, Outcome, useAction } from "../owner/action.tsx";
import { Checkbox, Field } from "../parts/form.tsx";
import { RawText } from "../parts/raw-text.tsx";
import { Region } from "../parts/region.tsx";
import { DataTable } from "../parts/table.tsx";
import * as msg from "../text/en/operator/settings.ts";
import { lineOf, SettingEditor, valueText } from "./setting-editor.tsx";
import { type SettingTexts, useSettingTexts } from "./setting-texts.ts";

type Values = Readonly<Record<string, unknown>>;

/** How often a page checks whether the node that it restarted is back. It then says that a new session is needed. */
const RESTARTED_EVERY_MS = 1500;

/** Reports whether a setting contains each of the words in any place. */
const hasWords = ({ key, source }: SettingInForce, meaning: string, words: string) => {
  const text = `${key} ${source} ${meaning}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
};

/** Explains a setting and, if it cannot be changed here, how to change it. */
function Meaning(props: { setting: SettingInForce; meaning: string; file: string | null }) {
  const { setting, meaning, file } = props;
  const { key, apply, value } = setting;
  const { section, line } = lineOf(key, value);
  return (
    <details>
      <summary class="dim s">{msg.meaning}</summary>
      <p class="s measure">{meaning}</p>
      {apply === "file" && (
        <>
          <p class="s dim">{msg.lineOfTheFile(file === null ? msg.theSettingsFile : <code>{file}</code>)}</p>
          <RawText text={`${section}\n${line}`} label={key} />
        </>
      )}
    </details>
  );
}

function Settings(props: {
  report: SettingsReport;
  query: Query<SettingsReport>;
  texts: SettingTexts;
  mayChange: boolean;
  onRestart: () => void;
}) {
  const { report, query, texts, mayChange, onRestart } = props;
  const { settings, file, settings_file: settingsFile } = report;
  const { query: params, path, route } = useLocation();
  const [isSetOnly, setSetOnly] = useState(true);
  const [edited, setEdited] = useState<string>();
  /** Undoes the last change. */
  const [undo, setUndo] = useState<Values>();
  const action = useAction();
  /** The setting of the last action, next to which the outcome is shown. */
  const [subject, setSubject] = useState<string>();
  const find = params.setting ?? "";
  const search = (value: string) => {
    const { setting: _, ...others } = params;
    const next = new URLSearchParams(value === "" ? others : { ...others, setting: value }).toString();
    route(next === "" ? path : `${path}?${next}`, true);
  };
  const waiting = settings.filter(({ next }) => next !== undefined).map(({ key }) => key);
  const shown = settings.filter((setting) => {
    if (find.trim() !== "") return hasWords(setting, texts.meaningOf(setting), find.trim());
    const { key, source, next } = setting;
    return !isSetOnly || source !== "default" || next !== undefined || key === subject;
  });
  const change = (values: Values, isUndo = false): Promise<void> => {
    setSubject(Object.keys(values)[0]);
    return action.run(async () => {
      const before = Object.keys(values).map((key) => {
        const found = settings.find((setting) => setting.key === key);
        return [key, found?.set ?? null] as const;
      });
      const done = await operatorRequest<SettingsChanged>(operatorChange("setting", { values }));
      setUndo(isUndo ? undefined : Object.fromEntries(before));
      setEdited(undefined);
      query.refresh();
      const keys = Object.keys(values).join(", ");
      if (done.at_start.length > 0) return msg.waitsForStart(keys);
      return done.late.length > 0 ? msg.inForceSoon(keys, done.late.join(", ")) : msg.inForce(keys);
    });
  };
  const restart = () => {
    setSubject(undefined);
    return action.run(async () => {
      await restartNode();
      onRestart();
      return msg.restarts;
    });
  };
  // Before the first change no value was set, so "Undo" would be the same as "Take back".
  const undoes = undo !== undefined && !action.failure;
  const outcomeOf = (key: string | undefined) => key === subject && <Outcome action={action} />;
  const isEditable = ({ apply }: SettingInForce) => file !== null && (apply === "now" || apply === "start");
  return (
    <>
      <div class="pad stack">
        {file !== null && <p class="s dim measure">{msg.whatCounts(<code>{file}</code>)}</p>}
        {report.is_shared && <p class="s measure">{msg.ofThisNode}</p>}
        {report.refused !== null && (
          <div class="notice boxed stack">
            <p>{msg.startedWithout(report.refused.keys.join(", "))}</p>
            <p class="s">{report.refused.reason}</p>
            <p class="s dim">{msg.refusedFile(<code>{report.refused.file}</code>)}</p>
          </div>
        )}
        {waiting.length > 0 && (
          <div class="notice boxed stack">
            <p>{msg.startIsDue(waiting.join(", "))}</p>
            {mayChange && (
              <p class="row wrap">
                <ActionButton action={action} onClick={restart}>
                  {msg.restart}
                </ActionButton>
                <span class="s dim">{msg.restartEnds}</span>
              </p>
            )}
            {outcomeOf(undefined)}
          </div>
        )}
        <Field
          label={msg.findASetting}
          name="setting"
          type="search"
          value={find}
          onInput={search}
          hint={
            find.trim() === "" && isSetOnly
              ? msg.theOnesThatAreSet(shown.length, settings.length)
              : msg.foundOfAll(shown.length, settings.length)
          }
        />
        {find.trim() === "" && (
          <Checkbox checked={isSetOnly} onChange={setSetOnly} class="row tight">
            {msg.changedOnly}
          </Checkbox>
        )}
      </div>
      {shown.length === 0 ? (
        <p class="pad dim">{msg.noneFound}</p>
      ) : (
        <DataTable
          stacks="early"
          label={msg.title}
          rows={shown}
          keyOf={({ key }) => key}
          columns={[
            {
              title: msg.setting,
              cell: (setting) => (
                <>
                  <span class="mono s">{setting.key}</span>
                  <Meaning setting={setting} meaning={texts.meaningOf(setting)} file={settingsFile} />
                </>
              ),
            },
            {
              title: msg.value,
              cell: (setting) => {
                const { key, value, source, default: usual, next } = setting;
                if (edited === key && file !== null)
                  return (
                    <SettingEditor
                      outcome={outcomeOf(key)}
                      setting={setting}
                      rule={texts.ruleOf(setting)}
                      file={file}
                      action={action}
                      onSave={(changed) => void change({ [key]: changed })}
                      onCancel={() => setEdited(undefined)}
                    />
                  );
                return (
                  <div>
                    <bdi class="mono s value">{valueText(value)}</bdi>
                    {source !== "default" && !["", valueText(value)].includes(valueText(usual)) && (
                      <span class="dim s"> {msg.byDefault(<code>{valueText(usual)}</code>)}</span>
                    )}
                    {next !== undefined && (
                      <span class="s">{msg.atNextStart(<code>{valueText(next)}</code>)}</span>
                    )}
                    {outcomeOf(key)}
                    {key === subject && undoes && (
                      <p>
                        <ActionButton action={action} onClick={() => change(undo, true)}>
                          {msg.undo}
                        </ActionButton>
                      </p>
                    )}
                  </div>
                );
              },
            },
            {
              title: msg.takesEffect,
              cell: ({ apply, source }) => (
                <span class="s">{apply === "locked" ? msg.lockedBy(source) : msg.APPLY[apply]}</span>
              ),
            },
            {
              title: msg.source,
              cell: ({ source }) => (
                <bdi class="dim s value">{source === "default" ? msg.ofDefault : source}</bdi>
              ),
            },
            ...(mayChange
              ? [
                  {
                    title: msg.actions,
                    cell: (setting: SettingInForce) =>
                      isEditable(setting) &&
                      edited !== setting.key && (
                        <span class="row wrap">
                          <button type="button" class="btn" onClick={() => setEdited(setting.key)}>
                            {msg.change} <span class="skip">{setting.key}</span>
                          </button>
                          {setting.set !== undefined && !(undoes && undo?.[setting.key] === null) && (
                            <ActionButton action={action} onClick={() => change({ [setting.key]: null })}>
                              {msg.takeBack} <span class="skip">{setting.key}</span>
                            </ActionButton>
                          )}
                        </span>
                      ),
                  },
                ]
              : []),
          ]}
        />
      )}
    </>
  );
}

/** The settings in force, and which of them can be changed here. */
export function Page() {
  return (
    <OperatorGate
      title={msg.title}
      crumbs={[
        { label: msg.status, href: "/console/status" },
        { label: msg.operator, href: "/console/operator" },
        { label: msg.title },
      ]}
    >
      {(mayChange) => <SettingsCard mayChange={mayChange} />}
    </OperatorGate>
  );
}

function SettingsCard({ mayChange }: { mayChange: boolean }) {
  const [isRestarting, setRestarting] = useState(false);
  const texts = useSettingTexts();
  const query = useQuery(operatorRead<SettingsReport>("/config"), {
    send: operatorRequest,
    everyMs: isRestarting ? RESTARTED_EVERY_MS : undefined,
  });
  return (
    <Region title={msg.settingsInForce} call={undefined} query={query}>
      {(report) =>
        texts && (
          <Settings
            report={report}
            query={query}
            texts={texts}
            mayChange={mayChange}
            onRestart={() => setRestarting(true)}
          />
        )
      }
    </Region>
  );
}

import { useLocation } from "preact-iso";
import type { SettingInForce } from "../../operator/reports.ts";
import { useQuery } from "../data/query.ts";
import { DataTable } from "../parts/data-table.tsx";
import { Field } from "../parts/field.tsx";
import { Region } from "../parts/region.tsx";
import { operatorRead, operatorRequest } from "./session.ts";

const MAX_VALUE_CHARS = 300;

function valueText(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > MAX_VALUE_CHARS ? `${text.slice(0, MAX_VALUE_CHARS)}…` : text;
}

/** The settings in force, where each comes from, and those that are not the default. */
export function SettingsCard() {
  const query = useQuery<{ settings: SettingInForce[] }>(operatorRead("/config"), { send: operatorRequest });
  const { query: params, path, route } = useLocation();
  const find = params.setting ?? "";
  const search = (value: string) => {
    const { setting: _, ...others } = params;
    const next = new URLSearchParams(value === "" ? others : { ...others, setting: value }).toString();
    route(next === "" ? path : `${path}?${next}`, true);
  };
  return (
    <Region title="Settings in force" call={undefined} query={query}>
      {({ settings }) => {
        const isFound = ({ key, source }: SettingInForce) =>
          find === "" ? source !== "default" : `${key} ${source}`.includes(find);
        const shown = settings.filter(isFound);
        return (
          <>
            <div class="pad">
              <Field
                label="Find a setting"
                name="setting"
                type="search"
                value={find}
                onInput={search}
                hint={
                  find === ""
                    ? `The ${shown.length} that are not the default, of ${settings.length}. Secrets are masked.`
                    : `${shown.length} of ${settings.length}`
                }
              />
            </div>
            <DataTable
              stacks
              label="Settings"
              rows={shown}
              keyOf={({ key }) => key}
              columns={[
                { title: "Setting", cell: ({ key }) => <span class="mono s">{key}</span> },
                {
                  title: "Value",
                  cell: ({ value }) => <bdi class="mono s value">{valueText(value)}</bdi>,
                },
                { title: "From", cell: ({ source }) => <bdi class="dim s value">{source}</bdi> },
              ]}
            />
          </>
        );
      }}
    </Region>
  );
}

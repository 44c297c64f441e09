/** A sample of Prometheus' text format. */
interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Family {
  readonly name: string;
  readonly type: string;
  readonly samples: Sample[];
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const LABELS = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)",?/y;

/**
 * Returns the violations of a page of metrics against the rules of the text format and those of `promtool check
 * metrics`; empty for a valid page.
 */
export function violationsOf(page: string): string[] {
  const violations: string[] = [];
  const families = new Map<string, Family>();
  const seen = new Set<string>();
  let helped: string | undefined;
  let family: Family | undefined;
  if (!page.endsWith("\n")) violations.push("the last line does not end");
  for (const line of page.split("\n")) {
    if (line === "") continue;
    const [, help] = new RegExp(`^# HELP (${NAME}) \\S`).exec(line) ?? [];
    const [, name, type = ""] = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram)$`).exec(line) ?? [];
    if (help !== undefined) helped = help;
    else if (name !== undefined) {
      if (helped !== name) violations.push(`${name} has no help`);
      if (families.has(name)) violations.push(`${name} comes twice`);
      family = { name, type, samples: [] };
      families.set(name, family);
    } else {
      const sample = parseSample(line);
      if (!sample) violations.push(`no sample: ${line}`);
      else if (!family || !belongsTo(sample, family)) violations.push(`outside its family: ${line}`);
      else family.samples.push(sample);
      const series = line.slice(0, line.lastIndexOf(" "));
      if (seen.has(series)) violations.push(`${series} comes twice`);
      seen.add(series);
    }
  }
  for (const each of families.values()) violations.push(...ofFamily(each));
  return violations;
}

function parseSample(line: string): Sample | undefined {
  const [, name = "", inner = "", text = ""] =
    new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`).exec(line) ?? [];
  const labels: Record<string, string> = {};
  let end = 0;
  for (LABELS.lastIndex = 0; ; end = LABELS.lastIndex) {
    const label = LABELS.exec(inner);
    if (!label) break;
    labels[label[1] ?? ""] = label[2] ?? "";
  }
  const value = text === "+Inf" ? Number.POSITIVE_INFINITY : Number(text);
  return name === "" || end !== inner.length || Number.isNaN(value) ? undefined : { name, labels, value };
}

function belongsTo({ name }: Sample, family: Family): boolean {
  if (family.type !== "histogram") return name === family.name;
  return ["_bucket", "_sum", "_count"].some((suffix) => name === family.name + suffix);
}

function ofFamily({ name, type, samples }: Family): string[] {
  const violations: string[] = [];
  if ((type === "counter") !== name.endsWith("_total")) violations.push(`${name} is a ${type}`);
  if (/_(bucket|sum|count|info_total)$/.test(name)) violations.push(`${name} has the suffix of another type`);
  if (type === "counter" && samples.some(({ value }) => value < 0)) violations.push(`${name} is below zero`);
  if (type !== "histogram") {
    if (samples.some(({ labels }) => "le" in labels)) violations.push(`${name} has the label le`);
    return violations;
  }
  const series = Map.groupBy(samples, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels));
  for (const [labels, ofSeries] of series) {
    const find = (suffix: string) => ofSeries.filter((sample) => sample.name === name + suffix);
    const buckets = find("_bucket");
    const [[sum, ...sums], [count, ...counts]] = [find("_sum"), find("_count")];
    const bounds = buckets.map(({ labels: { le = "" } }) =>
      le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le),
    );
    const isAscending = (values: readonly number[], step: (a: number, b: number) => boolean) =>
      values.every((value, at) => at === 0 || step(values[at - 1] ?? Number.NaN, value));
    if (!sum || !count || sums.length + counts.length > 0)
      violations.push(`${name}${labels} lacks a single sum and count`);
    if (!isAscending(bounds, (a, b) => a < b) || bounds.at(-1) !== Number.POSITIVE_INFINITY)
      violations.push(`${name}${labels} has bounds ${bounds}`);
    if (
      !isAscending(
        buckets.map(({ value }) => value),
        (a, b) => a <= b,
      )
    )
      violations.push(`${name}${labels} is not cumulative`);
    if (buckets.at(-1)?.value !== count?.value) violations.push(`${name}${labels} counts differently`);
  }
  return violations;
}

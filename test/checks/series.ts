import type { ReadMetric } from "../../src/checks/figures.ts";
import type { Samples } from "../../src/runtime/figures/figures.ts";

/** The values of a series in promtool's notation, a minute apart; undefined where there is no sample. */
function valuesOf(text: string): (number | undefined)[] {
  return text.split(" ").flatMap((part) => {
    const [, first = "", step = "", count = "0"] =
      /^(_|-?[\d.e]+?(?:e\d+)?)([+-][\d.e]+)?(?:x(\d+))?$/.exec(part) ?? [];
    return Array.from({ length: Number(count) + 1 }, (_, at) =>
      first === "_" ? undefined : Number(first) + Number(step || 0) * at,
    );
  });
}

/** The series of one node in promtool's notation, as its checks read them at a minute. */
export function readAt(series: Readonly<Record<string, string>>): (minute: number) => ReadMetric {
  const parsed = Object.entries(series).map(([name, text]) => {
    const [, metric = "", inBraces = ""] = /^(?:svc_)?(\w+)(?:\{(.*)\})?$/.exec(name) ?? [];
    const labels = Object.fromEntries(
      [...inBraces.matchAll(/(\w+)="(.*?)"/g)].map(([, label = "", value = ""]) => [label, value] as const),
    );
    return { metric, labels, values: valuesOf(text) };
  });
  return (minute) => (metric) => {
    const own = parsed.filter((one) => one.metric === metric);
    if (own.length === 0) return undefined;
    return own.flatMap(({ labels, values }): Samples => {
      const value = values[minute];
      return value === undefined ? [] : [[labels, value]];
    });
  };
}

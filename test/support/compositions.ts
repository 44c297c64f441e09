import { join } from "node:path";
import { ROOT } from "./documents.ts";

/** A service of a composition, as far as tests look at it. */
export interface ComposedService {
  readonly image?: string;
  readonly profiles?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly configs?: readonly { readonly source: string }[];
  readonly healthcheck?: { readonly test: readonly string[] };
}

export interface Composition {
  readonly services: Readonly<Record<string, ComposedService>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly configs?: Readonly<Record<string, { readonly content: string }>>;
  readonly secrets?: Readonly<Record<string, { readonly file: string }>>;
}

export async function readComposition(file: string): Promise<Composition> {
  return Bun.YAML.parse(await Bun.file(join(ROOT, file)).text()) as Composition;
}

/** The environment of a service, with the defaults of its variables, and each text of `replaced` replaced by its value. */
export async function composedSettings(
  file: string,
  service: string,
  replaced: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const { environment = {} } = (await readComposition(file)).services[service] ?? {};
  const settings: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    const filled = value.replaceAll(/\$\{\w+:[-?](.*?)\}/g, "$1");
    settings[name] = Object.entries(replaced).reduce((text, [from, to]) => text.replaceAll(from, to), filled);
  }
  return settings;
}

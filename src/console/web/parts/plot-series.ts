/** A curve of a plot. */
export interface PlotSeries {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

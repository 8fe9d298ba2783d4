// The time in milliseconds, on a clock that all processes of the machine share.

export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1_000_000;
}

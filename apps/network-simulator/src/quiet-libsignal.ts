/**
 * libsignal prints to the console as it works, private ratchet keys included (`Closing session:` with the whole record).
 * Nothing of this process writes through the console, so it is turned off as a whole.
 */
export function quietLibsignal(): void {
  const nothing = (): void => undefined;
  Object.assign(console, { info: nothing, warn: nothing, error: nothing, log: nothing });
}

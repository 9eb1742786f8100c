/** A file is not what it is sent as, or takes too much to open. The reason follows the name of a field: "is ...". */
export class FileRefused extends Error {
  constructor(
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(reason, options);
    this.name = 'FileRefused';
  }
}

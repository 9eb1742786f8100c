/**
 * A file is not of the type it is sent as, or opening it exceeds a bound. Customers see the reason behind the name of a
 * field ("media: is not an image that can be read").
 */
export class FileRefused extends Error {
  constructor(
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(reason, options);
    this.name = 'FileRefused';
  }
}

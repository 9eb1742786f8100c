import { managementOpenApi } from '@dormouse/management-contract';
import { Controller, Get } from '@nestjs/common';
import { Public } from '../accounts/account.guard.js';

@Public()
@Controller('openapi.json')
export class DocumentationController {
  readonly #document = managementOpenApi();

  @Get()
  document(): Record<string, unknown> {
    return this.#document;
  }
}

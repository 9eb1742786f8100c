import { managementOpenApi } from '@dormouse/management-contract';
import { Controller, Get } from '@nestjs/common';
import { OpenToEverybody } from '../accounts/account.guard.js';

@OpenToEverybody()
@Controller('openapi.json')
export class DocumentationController {
  readonly #document = managementOpenApi();

  @Get()
  document(): Record<string, unknown> {
    return this.#document;
  }
}

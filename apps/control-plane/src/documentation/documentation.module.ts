import { Module } from '@nestjs/common';
import { DocumentationController } from './documentation.controller.js';

/** Serves the OpenAPI document of the management API. */
@Module({ controllers: [DocumentationController] })
export class DocumentationModule {}

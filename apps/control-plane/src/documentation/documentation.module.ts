import { Module } from '@nestjs/common';
import { DocumentationController } from './documentation.controller.js';

/** The management API described by itself. */
@Module({ controllers: [DocumentationController] })
export class DocumentationModule {}

/** A generateContent request. The rules on shape run first and make these types true where they are not `unknown`. */
export interface GeminiBody {
  contents: GeminiContent[];
  systemInstruction?: { parts?: GeminiPart[] };
  tools?: { functionDeclarations?: GeminiFunction[] }[];
  generationConfig?: { thinkingConfig?: { thinkingBudget?: unknown; thinkingLevel?: unknown } };
}

export interface GeminiContent {
  role?: unknown;
  parts: GeminiPart[];
}

export interface GeminiPart {
  text?: unknown;
  thought?: unknown;
  thoughtSignature?: unknown;
  functionCall?: { id?: unknown; name?: unknown; args?: unknown };
  functionResponse?: { id?: unknown; name?: unknown; response?: unknown; parts?: unknown };
  inlineData?: { mimeType?: unknown; data?: unknown };
}

export interface GeminiFunction {
  name?: unknown;
  description?: unknown;
  parameters?: unknown;
  parametersJsonSchema?: unknown;
}

export function callsOf(content: GeminiContent | undefined): NonNullable<GeminiPart["functionCall"]>[] {
  return (content?.parts ?? []).flatMap((part) => part.functionCall ?? []);
}

export function resultsOf(content: GeminiContent | undefined): NonNullable<GeminiPart["functionResponse"]>[] {
  return (content?.parts ?? []).flatMap((part) => part.functionResponse ?? []);
}

export function listFunctions(body: GeminiBody): GeminiFunction[] {
  return (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []);
}

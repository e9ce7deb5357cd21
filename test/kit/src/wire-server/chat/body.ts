/** A Chat Completions request. The rules on shape run first and make these types true where they are not `unknown`. */
export interface ChatBody {
  model: string;
  messages: ChatMessage[];
  stream?: unknown;
  stream_options?: { include_usage?: unknown };
  tools?: ChatTool[];
  tool_choice?: unknown;
  parallel_tool_calls?: unknown;
  max_tokens?: unknown;
  max_completion_tokens?: unknown;
}

export interface ChatMessage {
  role: unknown;
  content?: unknown;
  tool_calls?: ChatCall[];
  tool_call_id?: unknown;
}

export interface ChatCall {
  id?: unknown;
  type?: unknown;
  function?: { name?: unknown; arguments?: unknown };
}

export interface ChatTool {
  type?: unknown;
  function?: { name?: unknown; description?: unknown; parameters?: unknown; strict?: unknown };
}
